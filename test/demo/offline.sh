#!/usr/bin/env bash
# Plays what needs no cluster, on the examples of the repository, while the control plane is built behind it. What the
# builder says goes to a file and is shown after the scenes: two who talk at once are not understood.
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p bin
said=bin/controlplane.log
: > "$said"
${GO:-go} run ./test/controlplane/build > "$said" 2>&1 &
builds=$!
trap 'kill "$builds" 2> /dev/null || true' INT TERM

# show runs a command as a person would; what it finds is its exit code, and no fault of the demo.
show() {
	printf '\n$ %s\n' "$*"
	PATH="$PWD/bin:$PATH" "$@" || printf '(exit code %d)\n' "$?"
}
# A builder with nothing to do ends at once; then there is nothing to wait for, and the scenes on the cluster follow.
for _ in {1..120}; do
	if [ -s "$said" ] || ! kill -0 "$builds" 2> /dev/null; then break; fi
	sleep 0.5
done
if kill -0 "$builds" 2> /dev/null; then
	echo "The control plane is being built, once, about 12 minutes on two cores. What needs none of it meanwhile:"
	example=examples/gang-does-not-fit
	show signalbox fit "$example/job.yaml" --snapshot "$example/cluster.yaml" --map
	show signalbox check examples/colossalai-mistakes/job.yaml --offline
	show signalbox diagnose examples/missing-module/worker-0.log
	printf '\nNow the rest of the control plane; [2/9] is the second of nine parts:\n'
	tail -n +1 -f --pid="$builds" "$said"
else
	cat "$said"
fi
wait "$builds"
