package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

func trained(n int) (text string) {
	for i := range n {
		text += fmt.Sprintf("step %d loss: %.3f\n", i+1, 2-float64(i)/1000)
	}
	return text
}

// Where several launches wrote into one file, the last one tells what became of the job.
func TestTheLastLaunchDecides(t *testing.T) {
	const (
		head      = "== job 17 at 10:00:00\nargs lr=0.1 seed=3\n"
		again     = "== job 18 at 11:30:00\nargs lr=0.1 seed=4\n"
		nearly    = "[10:00] root INFO: Architecture :\n[10:00] root INFO: Backbone :\n"
		prolog    = "---------------\nBegin Slurm Prolog: Oct-16-2023 16:43:27\nJob ID:    3799477\nAccount:   gts-m8\n---------------\n"
		cancelled = "slurmstepd: error: *** JOB 3799477 ON atl1-1-02 CANCELLED AT 2023-10-16T17:47:00 ***\n"
		warns     = "fit.py:8: DeprecationWarning: the type of an empty series is another in a later version\n  s = Series()\n"
		missing   = "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    f = open(p)\nFileNotFoundError: [Errno 2] No such file or directory: '/data/a.bin'\n"
		memory    = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"
	)
	used := "Resources:     cpu=32,mem=128G,node=1\nRsrc Used:     walltime=01:03:33,mem=378740K\nPartition:     gpu-a100\nQOS:           inferno\nNodes:         atl1-1-02\n"
	ruled := "Mon Mar  2 10:00:00 2026\n+----------+\n| NVIDIA-SMI 535.1   Driver Version: 535.1 |\n+----------+\n"
	often := ""
	for i := range 20 {
		often += head + strings.Replace(missing, "a.bin", fmt.Sprintf("%d.bin", i+1), 1)
	}
	more := ""
	for i := range 100 {
		more += head + strings.Repeat(memory, 2) + strings.Replace(missing, "a.bin", fmt.Sprintf("%d.bin", i+1), 1) + "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 9x2)\n"
	}
	cases := map[string]struct {
		log  string
		want diagnose.Verdict
		line string
	}{
		"more launches than one thing is kept of":              {often, diagnose.Diagnosed, "/data/20.bin"},
		"more of what launches say than is kept of a log":      {more + head + strings.Replace(missing, "a.bin", "b.bin", 1), diagnose.Diagnosed, "/data/b.bin"},
		"the second trains":                                    {head + missing + again + trained(5), diagnose.Healthy, ""},
		"the second fails of something else":                   {head + missing + again + trained(5) + memory, diagnose.Diagnosed, "CUDA out of memory"},
		"the second says nothing yet":                          {head + missing + again, diagnose.Diagnosed, "FileNotFoundError"},
		"the third of four says nothing of it":                 {head + missing + again + memory + head + again, diagnose.Diagnosed, "CUDA out of memory"},
		"the second goes on, and says nothing known":           {head + missing + again + strings.Repeat("(cls): Conv2d(128, 81)\n", 50), diagnose.Unknown, ""},
		"the second goes on, and its logger informs of it":     {head + missing + again + strings.Repeat("2026-03-02 11:30:09,120 INFO part of the data\n", 50), diagnose.Healthy, ""},
		"a third after two that failed":                        {head + missing + again + memory + head + trained(5), diagnose.Healthy, ""},
		"only the first line comes again":                      {head + missing + "== job 18 at 11:30:00\nretrying\n" + trained(3), diagnose.Diagnosed, "FileNotFoundError"},
		"a rule stands between the first lines":                {ruled + missing + ruled + trained(5), diagnose.Healthy, ""},
		"the first line says start, and comes again at once":   {"INFO START train.py\nINFO START train.py\nINFO load\n" + missing + "INFO START predict.py\n" + trained(5), diagnose.Healthy, ""},
		"the last is short, and says that it is done":          {head + missing + again + "rows read: 12\nresults saved\n", diagnose.Healthy, ""},
		"its logger called what went wrong an error":           {head + "ERROR cannot save\n" + missing + again + "rows read: 12\nresults saved\n", diagnose.Healthy, ""},
		"the second comes as far":                              {head + "rows read: 12\n" + missing + again + "rows read: 12\n", diagnose.Diagnosed, "FileNotFoundError"},
		"three come as far, one after the other":               {head + missing + again + head + again, diagnose.Diagnosed, "FileNotFoundError"},
		"a first line that says no start":                      {"INFO part 1 read\nINFO part 2 read\n" + missing + "INFO part 3 read\n" + trained(3), diagnose.Diagnosed, "FileNotFoundError"},
		"one logger writes both of the first lines":            {nearly + missing + strings.ReplaceAll(nearly, "10:00", "11:30") + trained(3), diagnose.Healthy, ""},
		"the logger writes another line":                       {nearly + missing + strings.ReplaceAll(nearly, "Backbone", "Loss") + trained(3), diagnose.Diagnosed, "FileNotFoundError"},
		"ranks begin alike, and one fails":                     {head + again + head + again + trained(3) + memory + trained(3), diagnose.Diagnosed, "CUDA out of memory"},
		"the log begins with what goes wrong":                  {missing + missing + trained(3), diagnose.Diagnosed, "FileNotFoundError"},
		"a report that repeats is no beginning":                {memory + "on card 1\n" + memory + "on card 2\n" + trained(3), diagnose.Diagnosed, "CUDA out of memory"},
		"another node and another file in its head":            {strings.Replace(head, "job", "job on a, file base.yaml,", 1) + missing + strings.Replace(again, "job", "job on b, file small.yaml,", 1) + trained(5), diagnose.Healthy, ""},
		"a first line comes again right below what ended it":   {warns + "rows read: 12\n" + missing + warns + memory, diagnose.Diagnosed, "CUDA out of memory"},
		"it comes again, and somebody handled what was raised": {warns + "rows read: 12\n" + strings.Replace(missing, "<module>", "load", 1) + warns + memory, diagnose.Diagnosed, "FileNotFoundError"},
		"what ends a job is headed as what began it":           {prolog + cancelled + strings.Replace(prolog, "Prolog: Oct-16-2023 16:43:27", "Epilog: Oct-16-2023 17:47:02", 1) + used, diagnose.Diagnosed, "CANCELLED"},
		"and so is what ends another job":                      {prolog + cancelled + strings.Replace(prolog, "Prolog", "Epilog", 1) + cancelled + strings.Replace(strings.Replace(prolog, "3799477", "3797696", 1), "Prolog", "Epilog", 1) + used, diagnose.Diagnosed, "CANCELLED"},
		"the job is begun again":                               {prolog + cancelled + prolog + trained(5), diagnose.Healthy, ""},
		"a shell that prints its commands":                     {"+ python t.py --data /d\nstart\n" + missing + "+ python t.py --data /e\n" + memory, diagnose.Diagnosed, "CUDA out of memory"},
		"one that said something fails, and a third later":     {head + "INFO load\n" + missing + "reads\nrows: 12\n" + missing + "reads\nrows: 12\n" + many("part %d: 7\n", 4), diagnose.Diagnosed, "FileNotFoundError"},
		"the first fails at once, and so do all":               {missing + head + missing + again + missing, diagnose.Diagnosed, "FileNotFoundError"},
		"the first fails at once, and ranks begin alike":       {missing + head + again + trained(3) + memory + trained(3), diagnose.Diagnosed, "CUDA out of memory"},
		"what went on before the second was bad":               {head + trained(5) + memory + again + missing, diagnose.Diagnosed, "FileNotFoundError"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := read(t, "", strings.NewReader(tc.log))
			line := ""
			if r.Root != nil {
				line = r.Root.Line
			}
			if r.Verdict != tc.want || !strings.Contains(line, tc.line) || tc.line == "" && line != "" {
				t.Errorf("%s %q, want %s %q", r.Verdict, line, tc.want, tc.line)
			}
		})
	}
}

// Where no signature knows the words, the line that the program calls an error is better than nothing; training that
// goes on after it takes it back, and so does anything that is known.
func TestTheWorstLineIsALastResort(t *testing.T) {
	cases := map[string]struct {
		log  string
		want diagnose.Verdict
		line string
	}{
		"at the end":                     {trained(5) + "ERROR: the lease on the shard table was lost\n", diagnose.Diagnosed, "lease"},
		"training goes on":               {trained(5) + "ERROR: the lease on the shard table was lost\n" + trained(5), diagnose.Healthy, ""},
		"the last block, its first line": {"ERROR: early\n" + trained(5) + "ERROR: the lease was lost\nERROR: leaving\n", diagnose.Diagnosed, "the lease was lost"},
		"something else is known":        {"ERROR: the lease was lost\nOSError: [Errno 28] No space left on device\n", diagnose.Diagnosed, "No space left"},
		"it is only a warning":           {trained(5) + "WARNING: error: no cache\n", diagnose.Healthy, ""},
		"a missing path beats the level": {trained(5) + "error: open /etc/run.toml: no such file or directory\n", diagnose.Diagnosed, "run.toml"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := read(t, "", strings.NewReader(tc.log))
			line := ""
			if r.Root != nil {
				line = r.Root.Line
			}
			if r.Verdict != tc.want || !strings.Contains(line, tc.line) || tc.line == "" && line != "" {
				t.Errorf("%s %q, want %s %q", r.Verdict, line, tc.want, tc.line)
			}
			if tc.line != "" && strings.Contains(tc.line, "lease") && r.Root.Standing != diagnose.Hypothesis {
				t.Errorf("standing %s; the worst line is a hypothesis", r.Root.Standing)
			}
		})
	}
}

// A failure is not followed by training: what many steps follow was survived, whatever was said of it. The other ranks of a
// gang take one without the one that died, or two, and where prefixes tell ranks apart nobody knows how far each is.
func TestWhatManyStepsFollowWasSurvived(t *testing.T) {
	const raised = "Traceback (most recent call last):\n  File \"/app/send.py\", line 3, in send\n    post(x)\nConnectionError: usage server is gone\n"
	ofRank := "[rank3]: " + strings.ReplaceAll(strings.TrimSuffix(raised, "\n"), "\n", "\n[rank3]: ") + "\n"
	for name, tc := range map[string]struct {
		raised string
		steps  int
		want   diagnose.Verdict
	}{
		"as many as no gang takes":               {raised, 4, diagnose.Healthy},
		"as many as a gang may take":             {raised, 3, diagnose.Diagnosed},
		"as many as ranks take without this one": {ofRank, 11, diagnose.Diagnosed},
		"many more":                              {ofRank, 30, diagnose.Healthy},
	} {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(trained(5)+tc.raised+trained(tc.steps))); r.Verdict != tc.want {
				t.Errorf("%s after %d steps, want %s", r.Verdict, tc.steps, tc.want)
			}
		})
	}
}
