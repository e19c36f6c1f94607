package diagnose_test

import (
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// What a logger prints of an exception has the level of its record, however the exception is called; what ends a thread,
// or its program, is printed otherwise.
func TestWhatARecordInformsOfIsNoFailure(t *testing.T) {
	const (
		rock    = "09:33:08.796 [http-1] INFO  o.m.r.Factory - Not a Rock server, trying Rserve...\n"
		frames  = "org.molgenis.r.ConnectionCreationFailedException: Failure when opening a Rock R session\n\tat org.molgenis.r.rock.Factory.create(Factory.java:40)\n"
		ssh     = "2021-04-06 23:03:28,773 toolkit INFO     Cannot connect to host algo-2 at port 22\n2021-04-06 23:03:28,774 toolkit INFO     Connection failed with exception: \n"
		unable  = " [Errno None] Unable to connect to port 22 on 10.0.201.86\n"
		started = "2018-08-14 05:16:30 UTC [21-1] LOG:  starting\n"
	)
	for name, tc := range map[string]struct {
		log  string
		want string
	}{
		"an exception that a record informs of":        {rock + frames, ""},
		"the same without a record":                    {frames, "python-exception-user-code"},
		"one that ends its thread":                     {rock + "Exception in thread \"main\" " + frames, "python-exception-user-code"},
		"a name without frames":                        {rock + "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n", "gpu-oom"},
		"a line that goes on with the record":          {ssh + unable, ""},
		"the same below no record":                     {unable, "network-dns"},
		"an error of a level of PostgreSQL's":          {started + "2018-08-14 05:16:31 UTC [21-2] LOG:  could not bind IPv6 socket: Cannot assign requested address\n", ""},
		"one of another level":                         {started + "2018-08-14 05:16:31 UTC [21-2] FATAL:  could not bind IPv4 socket: Cannot assign requested address\n", "port-in-use"},
		"a server that was asked to end":               {"2020-12-20 20:47:04 UTC [1] LOG: aborting any active transactions\n2020-12-20 20:47:04 UTC [1] LOG: background worker (PID 72) exited with exit code 1\n2020-12-20 20:47:05 UTC [1] LOG: database system is shut down\n", ""},
		"what is for those who debug":                  {"2025-12-08 08:44:02,041 [DEBUG] (root) callback failed: ConnectionPool(host='localhost', port=8001): Max retries exceeded with url: /callback (Caused by NewConnectionError('Failed to establish a new connection: [Errno 111] Connection refused'))\n", ""},
		"how a warning is silenced":                    {"The following values were not passed to the launcher:\n\t`--num_processes` was set to 1\nTo avoid this warning pass in values for each of the problematic parameters or run `accelerate config`.\n", ""},
		"a traceback that breaks off at an import":     {"To avoid this warning pass in values or run `accelerate config`.\nTraceback (most recent call last):\n  File \"/app/train.py\", line 19, in <module>\n    from torchvision import transforms\n", "missing-module"},
		"a device that could not be set":               {"terminate called after throwing an instance of 'std::runtime_error'\n  what():  Failed to set cuda device\n", "no-gpu-visible"},
		"an error of the library that asks the driver": {"Traceback (most recent call last):\n  File \"/lib/site-packages/pynvml.py\", line 1042, in _nvmlCheckReturn\n    raise NVMLError(ret)\npynvml.NVMLError_Unknown: Unknown Error\n", "no-gpu-visible"},
		"what starts processes on other hosts":         {"error: _forkexec_slurmstepd: slurmstepd failed to send return code got 0: No error\n", "launcher-ssh-failure"},
		"a setting named after a loss":                 {"tree 1\n\"options\" : { \"criterion\" : \"squared_error\", \"random_state\" : 17 },\ntree 2\n\"options\" : { \"criterion\" : \"squared_error\", \"random_state\" : 18 },\n", ""},
		"quotas that the kernel can keep":              {"Jul 27 14:41:59 combo kernel: VFS: Disk quotas dquot_6.5.1\nJul 27 14:41:59 combo kernel: Dquot-cache hash table entries: 1024\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, "", strings.NewReader(tc.log))
			if got := r.Category; got != tc.want && (tc.want != "" || got != "healthy") {
				t.Errorf("category %q, verdict %v; want %q", got, r.Verdict, tc.want)
			}
		})
	}
}

// A record that says what was raised holds the traceback below it, though its message has several lines: somebody handled
// the exception, and the records below are of a process that went on.
func TestARecordWhoseMessageGoesOnHoldsItsTraceback(t *testing.T) {
	const (
		record = "2026-03-02 11:30:01 - data - ERROR - [data.py:18] - no frames on the card: A card of a later family is required.\n"
		goesOn = "Card 0: a small one\nFamily: 6\n"
		raised = "Traceback (most recent call last):\n  File \"/app/data.py\", line 9, in <module>\n    import frames\nframes.errors.CardError: A card of a later family is required.\n" + goesOn
	)
	const sentence = "A card of a later family is required, as the driver of this one says that it cannot hold so many."
	much := strings.Replace(raised, "A card of a later family is required.", sentence, 1)
	const stamped = "2026-03-02 11:30:01 - data - ERROR - [data.py:18] - "
	pad := strings.Repeat("x", 240-48-len(stamped))
	says := func(n int, before string) string { return stamped + before + sentence[:n] + "\n" }
	records := ""
	for range recordsBelow {
		records += "2026-03-02 11:30:02 - main - INFO - [main.py:58] - a part is read\n"
	}
	for name, tc := range map[string]struct {
		log  string
		want diagnose.Verdict
	}{
		"the message goes on above the traceback":      {record + goesOn + raised + records, diagnose.Unknown},
		"a record that says something else":            {strings.Replace(record, "A card", "No card", 1) + goesOn + raised + records, diagnose.Diagnosed},
		"a message that goes on for longer":            {record + goesOn + goesOn + raised + records, diagnose.Diagnosed},
		"a message of three lines more":                {record + goesOn + "Card 1\n" + raised + records, diagnose.Unknown},
		"a message of four lines more":                 {record + goesOn + "Card 1\nCard 2\n" + raised + records, diagnose.Diagnosed},
		"a record that says 48 bytes of it":            {says(48, "") + goesOn + much + records, diagnose.Unknown},
		"a record that says one byte less":             {says(47, "") + goesOn + much + records, diagnose.Diagnosed},
		"a record that says it within 240 bytes":       {says(48, pad) + goesOn + much + records, diagnose.Unknown},
		"a record that says it one byte further on":    {says(48, pad+"x") + goesOn + much + records, diagnose.Diagnosed},
		"a record that says that the program gives up": {strings.Replace(record, "no frames", "giving up", 1) + goesOn + raised + records, diagnose.Diagnosed},
		"too few records below":                        {record + goesOn + raised + strings.Replace(records, "2026", "", 1), diagnose.Diagnosed},
	} {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(tc.log)); r.Verdict != tc.want {
				t.Errorf("%s, category %q, root %+v; want %s", r.Verdict, r.Category, r.Root, tc.want)
			}
		})
	}
}

// recordsBelow is how many records of information show that a process outlived what it logged.
const recordsBelow = 8
