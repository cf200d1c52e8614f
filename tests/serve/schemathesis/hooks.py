"""Bodies that aren't JSON, and versions that are there."""

import io
import os
import re
import tarfile
from pathlib import Path

import schemathesis
from hypothesis import strategies as st

BUNDLES = sorted(
    path
    for root in os.environ["RETORT_BUNDLES"].split(":")
    for path in Path(root).iterdir()
    if path.is_dir() and not path.name.startswith(".")
)

EVENTS = [
    b'{"event_type":"ticket.opened","session_id":"s1","content":{"id":"t1"}}\n',
    b'{"event_type":"else"}\n',
    b"[]\n",
    b"\n",
    b"{",
]


def archive(path):
    """A bundle as it is uploaded."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as tar:
        tar.add(path, arcname=".")
    return written.getvalue()


ARCHIVES = [archive(path) for path in BUNDLES]


@st.composite
def altered(draw):
    """A bundle of which a part was cut off, or a byte is another one."""
    whole = draw(st.sampled_from(ARCHIVES))
    at = draw(st.integers(0, len(whole) - 1))
    if draw(st.booleans()):
        return whole[:at]
    return whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]


schemathesis.openapi.media_type(
    "application/x-tar", st.sampled_from(ARCHIVES) | altered() | st.binary(max_size=2_000)
)
schemathesis.openapi.media_type(
    "application/x-ndjson",
    st.lists(st.sampled_from(EVENTS), max_size=20).map(b"".join) | st.binary(max_size=2_000),
)


@schemathesis.hook
def map_body(context, body):
    """Names a version that is there in half of the requests that name one at all."""
    version = body.get("version") if isinstance(body, dict) else None
    if isinstance(version, str) and re.fullmatch("[0-7][0-9a-f]{3,63}", version):
        names = [path.name for path in BUNDLES]
        body["version"] = names[int(version[0], 16) % len(names)]
    return body
