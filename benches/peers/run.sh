#!/bin/sh
# Measures Retort beside what else does the same, and writes the figures into docs/peers.md.
#
#     benches/peers/run.sh [--set NAME] [--rounds N]
#
# Python's modules are put into a virtual environment beside this; without python3, or without a network for the first time, what needs
# them is skipped, and said to be. Building takes some minutes: this is a workspace of its own, with dependencies that Retort hasn't.
set -e
cd "$(dirname "$0")"
if [ ! -x .venv/bin/python ] && command -v python3 >/dev/null; then
    python3 -m venv .venv && .venv/bin/pip install --quiet --requirement programs/requirements.txt ||
        echo "Python's modules couldn't be installed: what needs them is skipped" >&2
fi
cargo build --release --locked
exec "${CARGO_TARGET_DIR:-target}/release/retort-peers" --write ../../docs/peers.md "$@"
