#!/bin/sh
# sonic-rs chooses its vector instructions when it is compiled: it, and the code here that is made of its generic functions, are compiled
# for this machine's processor. All else is compiled for any processor, Retort too, which finds out at run time what there is.
case " $* " in
*" --crate-name sonic_"* | *" --crate-name retort_peers "*) exec "$@" -C target-cpu=native ;;
*) exec "$@" ;;
esac
