#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use super::*;

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn free(_: Lane, _: &u64) -> Leave {
    Leave::Given
}

/// Workers, of which the first is reserved, that serve tenants until a time; an event of a tenant takes what `cost` says. The time that each
/// tenant was served.
fn simulate(
    turns: &mut Turns<u64>,
    workers: usize,
    until: Duration,
    cost: impl Fn(Lane) -> Duration,
    mut arrive: impl FnMut(&mut Turns<u64>, Duration),
) -> HashMap<Lane, Duration> {
    let mut busy: Vec<Option<(Duration, Lane, f64)>> = vec![None; workers];
    let mut served: HashMap<Lane, Duration> = HashMap::new();
    let mut now = Duration::ZERO;
    while now < until {
        arrive(turns, now);
        for (number, worker) in busy.iter_mut().enumerate() {
            if let Some((end, lane, paid)) = *worker
                && end <= now
            {
                turns.end(lane, cost(lane), paid, now);
                *worker = None;
            }
            if worker.is_none() {
                let next = turns.next(now, number == 0 && workers > 1, free);
                if let Next::Serve(lane, _) = next {
                    *served.entry(lane).or_default() += cost(lane);
                    *worker = Some((now + cost(lane), lane, turns.expected(lane)));
                }
            }
        }
        now += millis(1);
    }
    served
}

/// Keeps so many events of each of these waiting.
fn fill(turns: &mut Turns<u64>, lanes: &[Lane], now: Duration) {
    for lane in lanes {
        while turns.lanes.get(lane).is_some_and(|state| state.queue.len() < 8) {
            turns.push(*lane, 0, now).unwrap();
        }
    }
}

#[test]
fn who_always_has_events_has_the_same_time_whatever_they_take() {
    let mut turns = Turns::new(2);
    for lane in 0..4 {
        turns.set_lane(lane, if lane == 3 { 2.0 } else { 1.0 }, Duration::ZERO);
    }
    let cost = |lane: Lane| millis([1, 4, 20, 1][lane as usize]);
    let served = simulate(&mut turns, 2, millis(20_000), cost, |turns, now| {
        fill(turns, &[0, 1, 2, 3], now);
    });
    let seconds = |lane: Lane| served[&lane].as_secs_f64();
    // Two workers for 20 s, in shares of 1, 1, 1 and 2.
    for (lane, fair) in [(0, 8.0), (1, 8.0), (2, 8.0), (3, 16.0)] {
        assert!((seconds(lane) / fair - 1.0).abs() < 0.05, "{lane}: {}", seconds(lane));
    }
}

#[test]
fn who_is_alone_has_all_workers() {
    let mut turns = Turns::new(3);
    for lane in 0..50 {
        turns.set_lane(lane, 1.0, Duration::ZERO);
    }
    let served = simulate(
        &mut turns,
        3,
        millis(2_000),
        |_| millis(10),
        |turns, now| {
            fill(turns, &[7], now);
        },
    );
    assert!(served[&7] > millis(5_800), "{:?}", served[&7]);
}

#[test]
fn the_long_events_of_some_leave_a_worker_to_the_others() {
    let mut turns = Turns::new(4);
    for lane in 0..12 {
        turns.set_lane(lane, 1.0, Duration::ZERO);
    }
    let stallers: Vec<Lane> = (0..10).collect();
    let mut waits: Vec<u64> = Vec::new();
    let cost = |lane: Lane| if lane < 10 { millis(500) } else { millis(1) };
    let (mut pushed, mut last) = (HashMap::new(), 0);
    simulate(&mut turns, 4, millis(30_000), cost, |turns, now| {
        fill(turns, &stallers, now);
        for lane in [10, 11] {
            let queued = turns.lanes[&lane].queue.len();
            if queued == 0 {
                let at = now.as_millis() as u64;
                if let Some(before) = pushed.insert(lane, at) {
                    waits.push(at - before);
                    last = at;
                }
                turns.push(lane, 0, now).unwrap();
            }
        }
    });
    waits.sort_unstable();
    // All at once at the beginning, nobody owes anything yet.
    let (late, p99) =
        (waits.iter().filter(|wait| **wait > 20).count(), waits[waits.len() * 99 / 100]);
    assert!(late <= 8 && p99 <= 6 && last > 29_000, "{late} late, {p99} ms, until {last}");
}

#[test]
fn who_has_used_up_a_quota_waits_and_holds_nobody_up() {
    let mut turns = Turns::new(1);
    turns.set_lane(1, 1.0, Duration::ZERO);
    turns.set_lane(2, 1.0, Duration::ZERO);
    turns.push(1, 10, Duration::ZERO).unwrap();
    turns.push(2, 20, Duration::ZERO).unwrap();
    let leave = |lane: Lane, _: &u64| if lane == 1 { Leave::At(millis(30)) } else { Leave::Given };
    assert_eq!(turns.next(millis(1), false, leave), Next::Serve(2, 20));
    assert_eq!(turns.next(millis(1), false, leave), Next::Wait(Some(millis(30))));
    assert_eq!(turns.next(millis(30), false, free), Next::Serve(1, 10));
}

#[test]
fn who_has_as_many_events_as_may_run_goes_on_when_one_ends() {
    let mut turns = Turns::new(2);
    turns.set_lane(1, 1.0, Duration::ZERO);
    turns.push(1, 10, Duration::ZERO).unwrap();
    turns.push(1, 11, Duration::ZERO).unwrap();
    assert_eq!(turns.next(millis(0), false, free), Next::Serve(1, 10));
    assert_eq!(turns.next(millis(0), false, |_, _| Leave::AtAnEnd), Next::Wait(None));
    turns.end(1, millis(1), 0.0, millis(1));
    assert_eq!(turns.next(millis(1), false, free), Next::Serve(1, 11));
}

#[test]
fn what_is_taken_back_is_not_served() {
    let mut turns = Turns::new(1);
    turns.set_lane(1, 1.0, Duration::ZERO);
    let first = turns.push(1, 10, Duration::ZERO).unwrap();
    let second = turns.push(1, 11, Duration::ZERO).unwrap();
    assert_eq!(turns.cancel(1, first), Some(10));
    assert_eq!(turns.cancel(1, first), None);
    assert_eq!(turns.next(millis(0), false, free), Next::Serve(1, 11));
    assert_eq!(turns.cancel(1, second), None);
    turns.end(1, millis(1), 0.0, millis(1));
    let third = turns.push(1, 12, millis(1)).unwrap();
    assert_eq!(turns.cancel(1, third), Some(12));
    assert_eq!(turns.next(millis(2), false, free), Next::Wait(None));
    assert_eq!(turns.weight, 0.0);
    assert_eq!(turns.push(9, 1, millis(2)), Err(1));
    turns.push(1, 13, millis(2)).unwrap();
    assert_eq!(turns.remove_lane(1), [13]);
    assert_eq!((turns.weight, turns.next(millis(2), false, free)), (0.0, Next::Wait(None)));
}
