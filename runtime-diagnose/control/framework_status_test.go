package control

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// packed is a list of one role that takes so many bytes.
func packed(t *testing.T, size int) string {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	const role = `[{"name":"worker"}`
	if _, err := zip.Write([]byte(role + strings.Repeat(" ", size-len(role)-1) + "]")); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// A list of tasks that was not read is no list without failures: the answer says so.
func TestAListOfTasksThatCannotBeReadIsMissing(t *testing.T) {
	for name, tc := range map[string]struct{ status, want string }{
		"one that is read":       {packed(t, 1<<10), ""},
		"as large as may be":     {packed(t, largestStatus), ""},
		"one byte larger":        {packed(t, largestStatus+1), "larger than 64 MiB"},
		"cut off":                {base64.StdEncoding.EncodeToString([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff")), "cut off or no JSON"},
		"of another compression": {base64.StdEncoding.EncodeToString([]byte("BZh91AY")), "gzip"},
		"no base64":              {"***", "base64"},
	} {
		u := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"attemptStatus": map[string]any{"taskRoleStatusesCompressed": tc.status}}}}
		c := &evidence.Bundle{Job: &job.Job{Ref: job.Ref{Kind: "Framework"}, Source: u}}
		if why := UnreadStatus(c); (tc.want == "") != (why == "") || !strings.Contains(why, tc.want) {
			t.Errorf("%s: %q, want %q", name, why, tc.want)
		}
	}
}
