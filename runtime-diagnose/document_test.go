package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// A page about errors, a template for reports and a source that checks for errors report none; a report about one
// run, and a launcher that explains itself at length, do.
func TestDocumentsQuoteErrors(t *testing.T) {
	const (
		memory = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"
		ended  = "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    train(True)\nValueError: no weights in out\n"
		text   = "Check which of the ranks is the slowest, because the others have to wait for it at the next step.\n"
	)
	section := func(title, error string) string {
		return "## " + title + "\n\n" + title + " is what you see in the log when this has gone wrong.\nIf it is there on all of the ranks, then look at what " + title + " is about.\n\n```\n" + error + "```\n\n" + text
	}
	page := section("Memory", memory) + section("Disk", "OSError: [Errno 28] No space left on device\n") +
		section("Network", "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.\n") +
		section("Files", "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\nFileNotFoundError: [Errno 2] No such file or directory: '/data/a'\n")
	plain := ""
	for i, word := range strings.Fields(strings.Repeat("memory disk network driver loader port address quota ", 7)) {
		plain += fmt.Sprintf("The %s of node %d is what most of the runs that end early have in common with the one before.\n", word, i)
	}
	source := "import os\nimport torch\n\nclass Loader:\n    def __init__(self, path):\n        self.path = path\n\n    def read(self):\n        if not os.path.exists(self.path):\n            message = \"No space left on device\"\n            return message\n\n" +
		"def main():\n    try:\n        work()\n    except RuntimeError as e:\n        if \"CUDA out of memory. Tried to allocate 2 GiB\" in str(e):\n            retry()\n\n" +
		"def retry():\n    check(\"OSError: [Errno 28] No space left on device\")\n    for i in range(3):\n        work()\n    return 7\n\n" +
		"def work():\n    loader = Loader(os.environ[\"DATA\"])\n    for line in loader.read():\n        step(line)\n\nmain()\n"
	report := "### What happened\n\n" + text + "### Environment\n\n" + strings.Repeat("a machine with 8 of them\n", 3) + "### Log\n\n```\n" + strings.Repeat("loading shard\n", 20) + memory + "```\n"
	settings := "# where the data is\ndata:\n  path: /data\n" + many("  shards%d: 4\n", 30) + "# restart where there is No space left on device\nrestart: true\n# and how often\ntimes: 3\n"
	bodies := "class Loader:\n    \"\"\"Loads.\n\n" + strings.Repeat("    Some of what it loads\n", 60) + "    OSError: [Errno 28] No space left on device\n    \"\"\"\n" +
		strings.Repeat("    def read(self):\n        pass\n\n", 4)
	ends := page + "- LOG(FATAL) 不要使用。\n"
	byName := "Traceback (most recent call last):\n  File \"/usr/lib/python2.7/runpy.py\", line 163, in _run_module_as_main\n    mod_name, _Error)\n  File \"/usr/lib/python2.7/pkgutil.py\", line 281, in get_code\n    self.code = compile(source, self.filename, 'exec')\n  File \"/srv/fit/__main__.py\", line 9\n    def report(*rows, wide=False):\n                         ^\nSyntaxError: invalid syntax\n"
	cases := map[string]struct {
		log  string
		want diagnose.Verdict
	}{
		"a program that is run by its name, often":         {strings.Repeat(byName, 30), diagnose.Diagnosed},
		"a page with headings and fences":                  {page, diagnose.Unknown},
		"a short page whose lines are not wrapped":         {page1() + memory, diagnose.Unknown},
		"one that ends with what ended a program":          {page1() + ended, diagnose.Diagnosed},
		"one that goes on below it":                        {page1() + ended + "Look for it in the log.\n", diagnose.Unknown},
		"a page without marks":                             {plain + memory + plain, diagnose.Unknown},
		"a source":                                         {source, diagnose.Unknown},
		"a class, and what it says of itself":              {bodies, diagnose.Unknown},
		"figures as a run prints them":                     {settings + strings.Repeat("# again\nt = 0.5 | x = 3\n", 40) + memory, diagnose.Diagnosed},
		"settings as a run prints them":                    {strings.ReplaceAll(settings, "# ", ""), diagnose.Diagnosed},
		"a page whose last line sounds like an end":        {ends, diagnose.Unknown},
		"a report has its log in one block":                {report, diagnose.Diagnosed},
		"a source, printed by a run with times":            {"2026-03-01 10:00:00 start\n2026-03-01 10:00:01 load\n" + source + "2026-03-01 10:00:02 go\n" + memory, diagnose.Diagnosed},
		"a source, printed above a log with times":         {strings.Repeat(source, 8) + "2026-03-01 10:00:00 start\n2026-03-01 10:00:01 load\n2026-03-01 10:00:02 go\n" + memory, diagnose.Diagnosed},
		"every rank prints the same explanation":           {strings.Repeat(text, 60) + memory, diagnose.Diagnosed},
		"lines that begin as definitions, again and again": {strings.Repeat("type of model: forest, sealed:False\n training time: 104.3 [s]\n train acc: 0.82, test acc: 0.81\n", 5) + memory, diagnose.Diagnosed},
		"a short text":                                     {"# Log\n" + memory, diagnose.Diagnosed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := read(t, "", strings.NewReader(tc.log))
			if r.Verdict != tc.want {
				t.Errorf("%s, want %s: %s", r.Verdict, tc.want, r.Error)
			}
			if said := strings.Contains(strings.Join(r.Coverage.Missing, " "), "reads as a document"); said != (tc.want == diagnose.Unknown) {
				t.Errorf("says that it is a document: %v; %q", said, r.Coverage.Missing)
			}
		})
	}
}

// What a model wrote stands between the lines of the run that asked it: errors in it are quoted. Where no signature knows one, the
// run's own last words count; where one does, nothing shows that the run is well.
func TestARunThatPrintsTexts(t *testing.T) {
	const (
		said  = "The answer is that this is an error of the driver, because the memory that it asked for is not there and the others have to wait.\n"
		steps = "step 1 loss: 2.310\nstep 2 loss: 2.214\n"
	)
	texts := ""
	for i := range 50 {
		texts += fmt.Sprintf("The %s is that one of the ranks is not where the %s of the others is, and that they have to wait for it.\n", strings.Repeat("a", i+1), strings.Repeat("b", i+1))
	}
	for name, tc := range map[string]struct {
		log  string
		want diagnose.Verdict
	}{
		"it counts to the end":            {texts + "step 1 loss: 2.310\n" + texts + said + "step 2 loss: 2.214\nepoch 0, step 2\n", diagnose.Healthy},
		"it counts, and quotes an error":  {texts + "step 1 loss: 2.310\n" + texts + "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n" + said + "step 2 loss: 2.214\nepoch 0, step 2\n", diagnose.Unknown},
		"it says what it took":            {texts + steps + said + texts + "[Done] Evaluation completed in 4496.48 seconds.\n{\"accuracy\": 0.925}\n", diagnose.Healthy},
		"it took so, and quotes an error": {texts + steps + "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n" + said + texts + "[Done] Evaluation completed in 4496.48 seconds.\n{\"accuracy\": 0.925}\n", diagnose.Unknown},
		"its last words are text":         {texts + steps + texts + said, diagnose.Unknown},
		"it took something further up":    {texts + steps + "[Done] Evaluation completed in 4496.48 seconds.\n" + said + said, diagnose.Unknown},
		"it never counted":                {texts + said + "Evaluation completed in 4496.48 seconds.\n", diagnose.Unknown},
		"its last word is that it failed": {texts + steps + said + "Evaluation failed after 4496.48 seconds.\n", diagnose.Unknown},
	} {
		if r := read(t, "", strings.NewReader(tc.log)); r.Verdict != tc.want {
			t.Errorf("%s: %s, want %s; %q", name, r.Verdict, tc.want, r.Coverage.Missing)
		}
	}
}

// page1 is a text of a dozen long sentences.
func page1() (text string) {
	for i := range 14 {
		text += fmt.Sprintf("The %d. reason is that one of the ranks is not where the others are, and that they have to wait for it until the time that was given to them is over.\n", i)
	}
	return text
}

// many is a line again and again, with its number in it.
func many(line string, n int) (text string) {
	for i := range n {
		text += fmt.Sprintf(line, i)
	}
	return text
}
