package pulse

import (
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/rank"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Rules are what watching a job can find, for reference pages.
func Rules() []*signature.Signature {
	return []*signature.Signature{ruleHang(), ruleStuck(), ruleIdle()}
}

func ruleHang() *signature.Signature {
	return &signature.Signature{
		ID: "job-hangs", Title: "no rank makes steps any more", Since: "0.1", Category: "hang-no-progress", Role: signature.Root, Depth: signature.General,
		Domain: signature.Nobody, Retry: signature.RetryUnknown,
		Proves:       "Every rank that counts its steps has been silent for many times its usual interval.",
		DoesNotProve: "Why: a collective that one rank did not enter, a data loader, storage and a long evaluation look the same.",
		Remedy:       "Dump the stacks of the rank that stopped first (py-spy dump) and compare with another.\nSet TORCH_NCCL_TRACE_BUFFER_SIZE before the next run, so that a timeout leaves the flight recorder behind.",
	}
}

func ruleStuck() *signature.Signature {
	s := ruleHang()
	s.ID, s.Title = "rank-hangs", "a rank makes no steps while others do"
	s.Proves = "The rank has been silent for many times its usual interval, and others have not."
	s.DoesNotProve = "That it is stuck: it may only have stopped printing."
	return s
}

func ruleIdle() *signature.Signature {
	s := ruleHang()
	s.ID, s.Title = "gpus-idle", "the job's GPUs do nothing"
	s.Proves = "The GPU metrics of all pods of the job stayed at the bottom for the whole time."
	s.DoesNotProve = "That the job is stuck: it may load data, download a model, or need no GPU at this stage."
	s.Remedy = "Look at what the program does on the CPU (py-spy dump): data loading, a download, or waiting for another rank.\nEnd the job if nobody uses it; its GPUs are held meanwhile."
	return s
}

// Idle is GPUs that do nothing: how many pods, at most how busy, for how long.
func Idle(job, text string, since time.Time, facts map[string]string) rank.Sighting {
	return sighting(ruleIdle(), evidence.Item{
		ID: evidence.ID("job/" + job + "/gpu-use"), Kind: evidence.Metric, At: since, Source: evidence.Source{Rank: -1}, Text: text, Times: 1,
	}, facts)
}

// Sightings are findings that say that a job is not well; slow ranks are none.
func Sightings(job string, all []Finding) []rank.Sighting {
	var out []rank.Sighting
	for _, f := range all {
		rule := ruleHang()
		switch f.Kind {
		case Hang:
		case Stuck:
			rule = ruleStuck()
		default:
			continue
		}
		out = append(out, sighting(rule, evidence.Item{
			ID: evidence.ID("job/" + job + "/steps"), Kind: evidence.Log, At: f.Since, Source: f.Source, Text: f.Masked(), Times: 1,
		}, f.Facts))
	}
	return out
}

func sighting(s *signature.Signature, item evidence.Item, facts map[string]string) rank.Sighting {
	return rank.Sighting{Signature: s, Item: item, Line: item.Text, Facts: facts, Platform: true}
}
