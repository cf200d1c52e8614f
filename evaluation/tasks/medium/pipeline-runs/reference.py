"""What the rule says, by hand."""

from datetime import datetime

PREFIX = "refs/heads/"


def seconds(start, end):
    if start is None or end is None:
        return None
    start, end = (datetime.fromisoformat(text.replace("Z", "+00:00")) for text in (start, end))
    return (end - start).total_seconds()


def runner_of(job):
    runner = job.get("runner", {})
    return runner.get("name") or next(iter(runner.get("labels", [])), None)


def extract(event, Result):
    result = Result(event.get("session_id"))
    if event["event_type"] != "pipeline.finished":
        return result
    about = event["run"]
    run_id, ref = about.get("id"), about.get("ref", "")
    run = result.node(
        "Run",
        {"run_id": run_id},
        branch=ref.removeprefix(PREFIX) if ref.startswith(PREFIX) else None,
        result=about.get("result"),
        triggered_by=about.get("trigger", {}).get("actor"),
        duration_s=seconds(about.get("started"), about.get("finished")),
    )
    for one in about.get("jobs", []):
        name, runner = one.get("name"), runner_of(one)
        failed = [step for step in one.get("steps", []) if step["result"] == "failure"]
        job = result.node("Job", {"run_id": run_id, "name": name}, result=one.get("result"), runner=runner, failed_steps=len(failed))
        result.edge("RAN", run, job)
        for step in failed:
            key = {"run_id": run_id, "job": name, "number": step["number"]}
            failure = result.node("FailedStep", key, name=step.get("name"), exit_code=step.get("exit_code"), runner=runner)
            result.edge("FAILED_IN", job, failure)
    result.edge("RETRY_OF", run, result.id_of("Run", run_id=about.get("retry_of")))
    return result
