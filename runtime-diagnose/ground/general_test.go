package ground

import (
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// heap is a pasted log with a finding and its steps.
func heap() Shown {
	s := Shown{
		Says: "log.txt: the JVM ran out of memory\nthe JVM ran out of memory\nException in thread \"main\" java.lang.OutOfMemoryError: Java heap space", Root: []evidence.ID{"log/log.txt#4"},
		Remedies: []string{"Raise -Xmx, or the executor's memory, within the container's limit.", "Partition the data more finely."},
	}
	for id, text := range map[evidence.ID]string{
		"log/log.txt#1": "reading s3://lake/rows.parquet", "log/log.txt#2": "downloading the index", "log/log.txt#3": "caching partition 5",
		"log/log.txt#4": "Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space",
	} {
		s.Items = append(s.Items, evidence.Item{ID: id, Kind: evidence.Log, Times: 1, Text: text, Source: evidence.Source{Rank: -1}})
	}
	return s
}

// ranked is a gang of three of which two told the same rank.
func ranked() Shown {
	s := Shown{Says: "run-1: Gloo could not connect the ranks", Job: "run", Namespace: "ml", Names: []string{"run", "run-0", "run-1", "run-2", "gpu-n0"}, Root: []evidence.ID{"pod/run-1/t#2"}, Effects: []evidence.ID{"pod/run-0/t#2", "pod/run-2/t#2"}}
	for _, of := range []struct {
		id, pod, text string
		second        int
	}{
		{"pod/run-0/t#1", "run-0", "joining as rank 0 of 3", 1},
		{"pod/run-1/t#1", "run-1", "joining as rank 1 of 3", 2},
		{"pod/run-2/t#1", "run-2", "joining as rank 1 of 3", 3},
		{"pod/run-1/t#2", "run-1", "RuntimeError: connect [10.0.0.2]:2702: Connection refused", 4},
		{"pod/run-0/t#2", "run-0", "RuntimeError: Socket Timeout", 120},
		{"pod/run-2/t#2", "run-2", "container t ended: exit code 137, reason OOMKilled", 180},
	} {
		s.Items = append(s.Items, evidence.Item{ID: evidence.ID(of.id), Kind: evidence.Log, Times: 1, Text: of.text, At: time.Date(2026, 11, 22, 5, 0, of.second, 0, time.UTC), Source: evidence.Source{Pod: of.pod, Node: "gpu-n0", Container: "t", Rank: -1}})
	}
	return s
}

// evicted is a pod that the kubelet evicted.
func evicted() Shown {
	return Shown{Says: "run-1: the kubelet evicted the pod", Job: "run", Names: []string{"run", "run-1"}, Root: []evidence.ID{"event/run-1/Evicted#1"}, Items: []evidence.Item{{
		ID: "event/run-1/Evicted#1", Times: 1, Text: "Evicted: The node was low on resource: ephemeral-storage.", Source: evidence.Source{Pod: "run-1", Rank: -1},
	}}}
}

// What is so in general, what is told of nobody and what asks for what the rules offer is no claim that evidence could contradict; what a line was
// about need not be done, and what of two lines was when is told by their clocks.
func TestWhatAssertsNothingOfTheJobStandsApart(t *testing.T) {
	for sentence, tc := range map[string]struct {
		on   Shown
		want outcome
	}{
		"Setting spark.memory.fraction makes Spark keep less in its cache.":                                  {heap(), apart},
		"The switch dropped packets.":                                                                        {heap(), dropped},
		"Process 0 isn't mentioned.":                                                                         {heap(), apart},
		"Sizes that would work are 1, 2, 3 and 6.":                                                           {heap(), apart},
		"The object s3://lake/rows.parquet was being read before [log/log.txt#1].":                           {heap(), apart},
		"See s3://evil/rows.parquet for more [log/log.txt#1].":                                               {heap(), dropped},
		"It happened after the line \"caching partition 5\" [log/log.txt#3] [log/log.txt#4].":                {heap(), apart},
		"Because the heap was exhausted, partition 5 was cached [log/log.txt#4] [log/log.txt#3].":            {heap(), dropped},
		"The index was downloaded [log/log.txt#2].":                                                          {heap(), apart},
		"The node was low on ephemeral-storage because the pod had been evicted [event/run-1/Evicted#1].":    {evicted(), apart},
		"Nobody joined as rank 2 [pod/run-0/t#1] [pod/run-1/t#1].":                                           {ranked(), apart},
		"Rank 2 joined [pod/run-0/t#1] [pod/run-1/t#1].":                                                     {ranked(), dropped},
		"The connection was refused at 05:02 and the timeout came at 05:00 [pod/run-1/t#2] [pod/run-0/t#2].": {ranked(), apart},
		"The GPU of run-2 ran out of memory [pod/run-2/t#2].":                                                {ranked(), apart},
	} {
		if k := Keep(Answer{Analysis: sentence}, tc.on); outcomeOf(k) != tc.want {
			t.Errorf("%s: is %d, want %d (0 published, 1 apart, 2 dropped): %s", sentence, outcomeOf(k), tc.want, k.LeftOut())
		}
	}
}

// Advice is told in the rules' words, and no word of its own is.
func TestAdviceIsToldInTheRulesWords(t *testing.T) {
	for sentence, want := range map[string][]string{
		"Raise -Xmx within the container's limit, or split the data into more and smaller partitions.": heap().Remedies,
		"可以调大 -Xmx，或者把数据分得更细。":                                                                         heap().Remedies,
		"You should raise the container's memory limit to 512 GiB at once.":                            heap().Remedies[:1],
		"You should disable the admission webhook.":                                                    nil,
		"Raise the limit with `kubectl edit pod` and the container's memory.":                          nil,
	} {
		k := Keep(Answer{Analysis: sentence}, heap())
		if len(k.Unsupported) != len(want) || k.Analysis != "" {
			t.Errorf("%s: shows %q, want %q (%s)", sentence, k.Unsupported, want, k.LeftOut())
			continue
		}
		for i, said := range k.Unsupported {
			if said != want[i] {
				t.Errorf("%s: shows %q, want %q", sentence, said, want[i])
			}
		}
	}
}
