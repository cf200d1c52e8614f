//! What a host without a sandbox starts for each batch: native code that does one extraction over `serde_json::Value`.

use std::error::Error;
use std::io::{BufRead, Read, Write};

use retort_benches::by_hand::{cloud_audit, telemetry, webhook};
use retort_benches::whole::by_value::shop_orders;

fn main() -> Result<(), Box<dyn Error>> {
    let set = std::env::args().nth(1).ok_or("expected the name of a set")?;
    let by_value = match set.as_str() {
        "telemetry" => telemetry::BY_HAND.by_value,
        "cloudtrail" => cloud_audit::BY_HAND.by_value,
        "github" => webhook::BY_HAND.by_value,
        "shop-orders" => shop_orders,
        _ => return Err(format!("{set}: expected the name of a set").into()),
    };
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    output.write_all(b"ready\n")?;
    output.flush()?;
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        let count: usize = line.trim_end().parse()?;
        let events: Vec<Vec<u8>> =
            input.by_ref().split(b'\n').take(count).collect::<Result<_, _>>()?;
        let (mut results, mut result) = (Vec::new(), Vec::new());
        for event in events {
            result.clear();
            if by_value(&event, &mut result) {
                results.extend_from_slice(&result);
            }
            results.push(b'\n');
        }
        output.write_all(&results)?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}
