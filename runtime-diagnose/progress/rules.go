package progress

import (
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Rules are what a job that runs can suffer from, for reference pages.
func Rules() []*signature.Signature {
	return []*signature.Signature{Hangs, RankHangs, GPUsIdle, NoProgress, OneStopped, Diverges}
}

// stacks is how to find out what a process does that makes no steps.
const stacks = "Take stacks of the processes of every pod: py-spy dump --pid 1."

// What is found about a job that runs. Watching it (Pulse) finds Hangs, RankHangs and GPUsIdle,
// one look at its logs the others.
var (
	Hangs = stall("job-hangs", "no rank makes steps any more", signature.General,
		"Every rank that counts its steps has been silent for many times its usual interval.",
		"Why: a collective that one rank did not enter, a data loader, storage and a long evaluation look the same.",
		"Dump the stacks of the rank that stopped first (py-spy dump) and compare with another.\nSet TORCH_NCCL_TRACE_BUFFER_SIZE before the next run, so that a timeout leaves the flight recorder behind.")
	RankHangs = stall("rank-hangs", "a rank makes no steps while others do", signature.General,
		"The rank has been silent for many times its usual interval, and others have not.",
		"That it is stuck: it may only have stopped printing.", Hangs.Remedy)
	GPUsIdle = stall("gpus-idle", "the job's GPUs do nothing", signature.General,
		"The GPU metrics of all pods of the job stayed at the bottom for the whole time.",
		"That the job is stuck: it may load data, download a model, or need no GPU at this stage.",
		"Look at what the program does on the CPU (py-spy dump): data loading, a download, or waiting for another rank.\nEnd the job if nobody uses it; its GPUs are held meanwhile.")
	NoProgress = stall("no-progress", "training has stopped advancing", signature.General,
		"The last line that counts a step is {{.idle}} old; before, one came every {{.usual}}.",
		"Why: a data loader, storage, a collective and a long evaluation that prints nothing look the same.",
		stacks+"\nLook at the pod whose last step is the lowest first.\nRaise diagnosis.running.hangAfter if the job evaluates or saves for so long.")
	OneStopped = stall("one-stopped", "one pod has stopped advancing while others go on", signature.Symptom,
		"Its last line that counts a step is {{.idle}} old; before, one came every {{.usual}}. Other pods still count.",
		"That it hangs: it may have stopped printing only.",
		"Take the stack of its process: py-spy dump --pid 1.\nCompare its last lines with those of a pod that goes on.")
	Diverges = &signature.Signature{
		ID: "loss-diverges", Title: "the loss has gone back up to where it began", Since: "0.1", Category: "no-convergence",
		Role: signature.Root, Depth: signature.General, Domain: signature.User, Retry: signature.Useless,
		Proves:       "The loss began at {{.began}}, fell to {{.lowest}}, and is at {{.now}} now.",
		DoesNotProve: "Why: learning rate, data, precision and a broken device all end so.",
		Remedy:       "Go back to a checkpoint from before it rose; lower the learning rate or clip gradients.\nLook at the batches of the steps where it rose.",
	}
)

// stall is a rule about what makes no steps.
func stall(id, title string, depth int, proves, doubts, steps string) *signature.Signature {
	return &signature.Signature{
		ID: id, Title: title, Since: "0.1", Category: "hang-no-progress", Role: signature.Root, Depth: depth,
		Domain: signature.Nobody, Retry: signature.RetryUnknown, Proves: proves, DoesNotProve: doubts, Remedy: steps,
	}
}

// Idle is GPUs that do nothing: how many pods, at most how busy, for how long.
func Idle(job, text string, since time.Time, facts map[string]string) evidence.Observation {
	return sighting(GPUsIdle, evidence.Item{
		ID: evidence.ID("job/" + job + "/gpu-use"), Kind: evidence.Metric, At: since, Source: evidence.Source{Rank: -1}, Text: text, Times: 1,
	}, facts)
}

// Sightings are findings that say that a job is not well; slow ranks are none.
func Sightings(job string, all []Finding) []evidence.Observation {
	var out []evidence.Observation
	for _, f := range all {
		rule := Hangs
		switch f.Kind {
		case Hang:
		case Stuck:
			rule = RankHangs
		default:
			continue
		}
		out = append(out, sighting(rule, evidence.Item{
			ID: evidence.ID("job/" + job + "/steps"), Kind: evidence.Log, At: f.Since, Source: f.Source, Text: f.Masked(), Times: 1,
		}, f.Facts))
	}
	return out
}

func sighting(s *signature.Signature, item evidence.Item, facts map[string]string) evidence.Observation {
	return evidence.Observation{Signature: s, Item: item, Line: item.Text, Facts: facts, Platform: true}
}
