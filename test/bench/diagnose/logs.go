package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// lastWords are how the rank ends. Every rank says the same, as in a job whose batch is too large.
const lastWords = `Traceback (most recent call last):
  File "/workspace/train.py", line 214, in <module>
    main()
  File "/workspace/train.py", line 187, in main
    loss = model(batch).loss
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.02 GiB is free.
`

// trainLog is the log of every pod, in a file that kwok reads at each request. While the job runs
// it trains; when it fails it has its last words.
type trainLog struct {
	file, config string
	size         int
}

// step is the time between two lines.
const step = 50 * time.Millisecond

// newLog makes the file that gives the log to every pod of the bench.
func newLog(dir string, size int) (*trainLog, error) {
	l := &trainLog{file: filepath.Join(dir, "train.log"), config: filepath.Join(dir, "logs.yaml"), size: size}
	if err := l.train(); err != nil {
		return nil, err
	}
	return l, os.WriteFile(l.config, fmt.Appendf(nil, `apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterLogs
metadata: {name: bench}
spec:
  selector: {matchNamespaces: [%s]}
  logs:
  - {logsFile: %q, previousLogsFile: %q}
`, namespace, l.file, l.file), 0o600)
}

// train makes it the log of a job that is at work.
func (l *trainLog) train() error { return l.write(nil) }

// fail makes it the log of a job that has just ended.
func (l *trainLog) fail() error {
	var end []string
	for line := range bytes.Lines([]byte(lastWords)) {
		end = append(end, string(bytes.TrimSuffix(line, []byte("\n"))))
	}
	return l.write(end)
}

// write replaces the file at once: nobody may read half of it. Its last line is of now.
func (l *trainLog) write(end []string) error {
	var lines []string
	for n, length := 0, 0; length < l.size; n++ {
		text := fmt.Sprintf("[trainer.py:88] step=%d, loss=%.4f, lr=0.0003, grad_norm=%.3f, tokens/s=%d", n, 2+1/float64(n+1), 1.0, 31000+n%97)
		lines = append(lines, text)
		length += len("2026-11-20T08:00:00.000000000Z stdout F [2026-11-20 08:00:00,123] [INFO] \n") + len(text)
	}
	at := time.Now().UTC().Add(-time.Duration(len(lines)+len(end)) * step)
	var log bytes.Buffer
	say := func(line string) {
		at = at.Add(step)
		fmt.Fprintf(&log, "%s stdout F %s\n", at.Format("2006-01-02T15:04:05.000000000Z"), line)
	}
	for _, text := range lines {
		say(at.Add(step).Format("[2006-01-02 15:04:05,000] [INFO] ") + text)
	}
	for _, line := range end {
		say(line)
	}
	if err := os.WriteFile(l.file+".new", log.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(l.file+".new", l.file)
}
