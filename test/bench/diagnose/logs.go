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

// writeLogs writes a log that trains for so many bytes and then ends, and the file that gives it
// to every pod of the bench.
func writeLogs(dir string, size int) (config string, err error) {
	var log bytes.Buffer
	now := time.Now().UTC().Add(-time.Hour)
	say := func(line string) {
		now = now.Add(50 * time.Millisecond)
		fmt.Fprintf(&log, "%s stdout F %s\n", now.Format("2006-01-02T15:04:05.000000000Z"), line)
	}
	for step := 0; log.Len() < size; step++ {
		say(fmt.Sprintf("[2026-11-20 08:00:00,123] [INFO] [trainer.py:88] step=%d, loss=%.4f, lr=0.0003, grad_norm=%.3f, tokens/s=%d", step, 2+1/float64(step+1), 1.0, 31000+step%97))
	}
	for line := range bytes.Lines([]byte(lastWords)) {
		say(string(bytes.TrimSuffix(line, []byte("\n"))))
	}
	text := filepath.Join(dir, "train.log")
	if err := os.WriteFile(text, log.Bytes(), 0o600); err != nil {
		return "", err
	}
	config = filepath.Join(dir, "logs.yaml")
	return config, os.WriteFile(config, fmt.Appendf(nil, `apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterLogs
metadata: {name: bench}
spec:
  selector: {matchNamespaces: [%s]}
  logs:
  - {logsFile: %q, previousLogsFile: %q}
`, namespace, text, text), 0o600)
}
