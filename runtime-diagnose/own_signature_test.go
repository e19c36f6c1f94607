package diagnose_test

import (
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

const (
	ownRing = `id: own-ring
title: the ring of ours broke
since: "0.1"
category: python-exception-user-code
role: root
kinds: [log]
pattern: 'our ring is torn'
domain: user
retry: unknown
proves: 'The ring broke.'
doesNotProve: 'Where.'
remedy: |
  Look at the other members.
references:
  - https://example.com/ring
`
	ownDisk = `id: own-disk
title: the scratch of ours is gone
since: "0.1"
category: python-exception-user-code
role: root
kinds: [log]
pattern: 'our scratch is gone'
domain: user
retry: unknown
proves: 'The scratch is gone.'
doesNotProve: 'Why.'
remedy: |
  Mount it again.
references:
  - https://example.com/disk
`
)

// A signature of somebody's own that waited for others gives way to the member that has trouble of its own, as ours do,
// however early it said so.
func TestASignatureOfOnesOwnTellsWhoFollowed(t *testing.T) {
	for says, want := range map[string]string{"": "own-ring", "says: waited\n": "own-disk"} {
		t.Run(says, func(t *testing.T) {
			c, err := signature.Load(fstest.MapFS{"own-ring.yaml": {Data: []byte(ownRing + says)}, "own-disk.yaml": {Data: []byte(ownDisk)}})
			if err != nil {
				t.Fatal(err)
			}
			story := diagnose.Case{Job: train(1), Kind: replicas, State: kinds.State{Phase: kinds.Failed}, Now: noon}
			for pod, text := range map[string]string{
				"train-master-0": noon.Add(-10*time.Second).Format(time.RFC3339) + " our ring is torn\n",
				"train-worker-0": noon.Add(-6*time.Second).Format(time.RFC3339) + " our scratch is gone\n",
			} {
				story.Pods = append(story.Pods, ended(pod, "gpu-"+pod, 1, "Error", noon))
				story.Logs = append(story.Logs, diagnose.Log{Source: evidence.Source{Pod: pod, Container: "pytorch", Rank: -1}, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }})
			}
			r := diagnose.Diagnose(t.Context(), story, c, diagnose.Options{})
			if r.Root == nil || r.Root.Signature != want {
				t.Errorf("the cause is %+v, want %s", r.Root, want)
			}
		})
	}
}
