"""One event at a time."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import pytest
from conftest import EXAMPLES, event, lines

import retort


def test_an_event_may_be_text_bytes_or_a_dict(small: retort.Bundle) -> None:
    results = [small.extract(it) for it in (event(1), json.dumps(event(1)), json.dumps(event(1)).encode(), bytearray(json.dumps(event(1)), "utf8"))]
    assert len({result.json() for result in results}) == 1
    [node] = results[0].nodes
    assert (node.node_id, node.entity_name, node.labels) == ("s1:Order:order_id=A-1", "Order", ["Order"])
    assert node.properties == {"order_id": "A-1", "total": 12.5}
    assert node["total"] == 12.5
    assert results[0].fully_handled_span_ids == ["p1"] and results[0].partially_handled_span_ids == []


def test_a_result_is_what_it_says(small: retort.Bundle) -> None:
    result = small.extract(event(7))
    assert result and result.event_type == "order_placed"
    assert [result.bundle] == small.fingerprints == list(result.bundles)
    assert dict(result) == result.to_dict() == json.loads(result.json())
    assert result["nodes"][0]["node_id"] == result.nodes[0].node_id
    assert result.fuel > 0 and result.failed_conversions == 0 and result.dropped == [] and result.edges == []
    assert result == small.extract(event(7)) != small.extract(event(8))


def test_what_nobody_serves_is_empty(small: retort.Bundle) -> None:
    for other in ({"event_type": "other"}, {"a": 1}):
        result = small.extract(other)
        assert not result and result.nodes == [] and result.bundle is None and result.bundles == ()


def test_what_does_not_fit_the_graph_is_dropped_and_told(small: retort.Bundle) -> None:
    result = small.extract(event(1, total="much"))
    assert result.nodes[0].properties == {"order_id": "A-1"}
    assert [(it["code"], it["path"]) for it in result.dropped] == [("type_mismatch", "nodes[0].properties[1].value")]
    assert result.partially_handled_span_ids == ["p1"]


@pytest.mark.parametrize("name", ["shop-orders", "github-webhook"])
def test_results_are_those_of_run(orders: retort.Bundle, name: str) -> None:
    """The lines that the examples keep of `retort run`."""
    kept = [json.loads(line) for line in (EXAMPLES / name / "results.ndjson").read_text().splitlines()]
    served = {}
    for number, line in enumerate(lines(name), 1):
        try:
            result = orders.extract(line)
        except retort.Error:
            continue
        if result:
            served[number] = result.to_dict()
    assert served == {it["line"]: it["result"] for it in kept}


def test_limits_are_held_and_told(made: retort.Compilation) -> None:
    bundle = made.load(limits={"event_bytes": 100})
    with pytest.raises(retort.EventError) as raised:
        bundle.extract(event(1, note="x" * 200))
    error = raised.value
    assert (error.code, error.allowed) == ("event_too_large", 100) and error.used is not None and error.used > 200
    with pytest.raises(retort.ExtractorError) as spent:
        made.load(limits={"fuel_base": 1, "fuel_per_byte": 0}).extract(event(1))
    assert spent.value.code == "out_of_fuel" and spent.value.allowed == 1


def test_what_limits_are_not_is_told(made: retort.Compilation) -> None:
    with pytest.raises(retort.InputError, match="fuel_bass"):
        made.load(limits={"fuel_bass": 1})
    with pytest.raises(retort.InputError):
        made.load(limits={"deadline_ms": "soon"})


def test_a_policy_denies(made: retort.Compilation) -> None:
    with pytest.raises(retort.ExtractorError) as raised:
        made.load(policy={"deny": ["content.total"]})
    assert raised.value.code == "module_rejected"


def test_what_can_not_be_opened_is_told(tmp_path: Path, bundles: Path) -> None:
    with pytest.raises(retort.InputError) as missing:
        retort.Bundle.load(tmp_path / "nowhere")
    assert missing.value.code == "file_not_found"
    with pytest.raises(retort.ExtractorError) as other:
        retort.Bundle.load(bundles, fingerprints=["0" * 64])
    assert other.value.code in ("fingerprint_mismatch", "manifest_missing")
    with pytest.raises(retort.InputError):
        retort.Bundle.load(bundles, fingerprints=["?"])


def test_a_broken_bundle_of_a_directory_is_told_or_passed_over(tmp_path: Path, bundles: Path) -> None:
    copy = tmp_path / "bundles"
    shutil.copytree(bundles, copy)
    retort.compile(EXAMPLES / "cloud-audit", out=copy)
    [broken] = [it for it in copy.iterdir() if it.is_dir() and not (bundles / it.name).exists() and it.name[0] != "."]
    (broken / "extractor.wasm").write_bytes(b"no module")
    with pytest.raises(retort.ExtractorError) as raised:
        retort.Bundle.load(copy)
    assert raised.value.code == "digest_mismatch"
    bundle = retort.Bundle.load(copy, lenient=True)
    assert [it["code"] for it in bundle.failures] == ["digest_mismatch"]
    assert bundle.event_types == retort.Bundle.load(bundles).event_types


def test_a_pickle_holds_a_path_and_fingerprints_and_no_code(tmp_path: Path, made: retort.Compilation) -> None:
    copy = tmp_path / "bundles"
    shutil.copytree(made.path.parent, copy)
    bundle = retort.Bundle.load(copy, limits={"deadline_ms": 500})
    pickled = pickle.dumps(bundle)
    assert len(pickled) < 2_000 and b"\0asm" not in pickled
    again = pickle.loads(pickled)
    assert again.fingerprints == bundle.fingerprints and again.extract(event(1)) == bundle.extract(event(1))
    # Another version is active by now: what was pickled is served all the same.
    other = {**event(1), "content": {"id": "A-1", "total": 1, "more": True}}
    newer = retort.compile(plan={**made.plan, "property_fields": []}, graph=(copy / made.fingerprint / "graph.json"), samples=[other], out=copy)
    assert newer.active and retort.Bundle.load(copy).fingerprints == [newer.fingerprint]
    assert pickle.loads(pickled).fingerprints == bundle.fingerprints
    # What was altered isn't.
    (copy / made.fingerprint / "extractor.wasm").write_bytes(b"\0asm")
    with pytest.raises(retort.ExtractorError) as raised:
        pickle.loads(pickled)
    assert raised.value.code == "digest_mismatch"


def test_graphs_are_told(small: retort.Bundle) -> None:
    [(fingerprint, graph)] = small.graphs.items()
    assert [fingerprint] == small.fingerprints and graph["entities"][0]["name"] == "Order"
