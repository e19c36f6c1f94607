package subject

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// What a message names decides, in whatever words it complains of it; what it only passes on the way does not.
func TestOf(t *testing.T) {
	for message, want := range map[string]string{
		"ValueError: the archive's columns and its header disagree":            "dataset-error",
		"planner.errors.Refused: option --depth should be below 12":            "argument-or-config-error",
		"ValidationError: 'x' is nothing":                                      "",
		"jsonschema.exceptions.ValidationError: 'x' is nothing":                "argument-or-config-error",
		"pyarrow.lib.Oddity: 17":                                               "dataset-error",
		"[14:49:15] /opt/rpc/tcp_socket.cc:76: Failed bind on 10.0.0.4:34567":  "port-in-use",
		"sbatch: error: resolve_ctls: res_nsearch error: Unknown host":         "network-dns",
		"answered with HTTP status 503":                                        "network-dns",
		"answered with HTTP status 500":                                        "",
		"answered with HTTP status 401":                                        "permission-denied",
		"GPU Narrowphase failed! 700":                                          "illegal-memory-access",
		"GPU Narrowphase failed! 701":                                          "",
		"allreduce ended: timed out":                                           "nccl-timeout",
		"(Fatal) NCCL communication operation timed out, process group 22":     "nccl-timeout",
		"listen_error_messages_raylet: Connection closed by server.":           "ray-actor-died",
		`File "python/ray/_raylet.pyx", line 581, in ray._raylet.execute_task`: "", // a place
		"panicked at src/checkpoint/async_checkpoint.rs:68:40":                 "", // a place
		"AssertionError: {'id': 786, 'shape': (50265, 768)}":                   "", // a key
		"AttributeError: 'Dataset' object has no attribute 'seek'":             "", // a defect of code
		"TypeError: forward() got an unexpected keyword argument 'labels'":     "",
		"W c10d socket": "", // no shape of one dimension
		"RuntimeError: running_mean should contain 36 elements not 38":                  "shape-mismatch",
		"RuntimeError: the head dimension of this kernel is at most 256":                "",
		"mpi4py.MPI.Exception: MPI_ERR_TRUNCATE: message truncated":                     "mpi-failure",
		"KeyError: 'tcp://10.10.0.20:44284'":                                            "",
		"Accelerator device halted prematurely":                                         "gpu-hardware-xid",
		"mlagents.UnityTimeOutException: The environment took too long to respond":      "network-dns",
		"container create failed: container init was OOM-killed (memory limit too low)": "host-oom-killed",
		"| epoch 001: 650 / 1891 loss=10.902, clip=0%, oom=0, loss_scale=2.000":         "", // a count of none
		"| epoch 001: 650 / 1891 loss=10.902, clip=0%, oom=1, loss_scale=2.000":         "host-oom-killed",
		"oom: 0, then killed: out of memory":                                            "host-oom-killed",
		"cuda:0 out of memory":                                                          "gpu-oom",
		"http_store.cc:96] HTTP GET request failed too many times, aborting.":           "network-dns",
		"number of devices: 0":                                                          "wrong-world-size",
		"Latent block: [256:512]":                                                       "", // a slice
		"Indexing.cu:1146: indexSelectLargeIndex: block: [54,0,0], thread: [64,0,0]":    "device-side-assert",
	} {
		rule, _ := Of(message)
		if got := ""; rule != nil {
			got = rule.Category
			if got != want {
				t.Errorf("%q is about %s, want %q", message, got, want)
			}
		} else if want != "" {
			t.Errorf("%q is about nothing, want %s", message, want)
		}
	}
}

// A subject is a guess, of a category that there is, with an identifier of its own.
func TestRules(t *testing.T) {
	lazy.CompileAll()
	var ids []string
	for _, r := range Rules() {
		if _, ok := signature.CategoryOf(r.Category); !ok {
			t.Errorf("%s has the category %q, which is none", r.ID, r.Category)
		}
		if !Guessed(r) || KnownAs(r) != Exception {
			t.Errorf("%s is no guess, or is known as %s", r.ID, KnownAs(r))
		}
		ids = append(ids, r.ID)
	}
	slices.Sort(ids)
	if n := len(ids); n != len(slices.Compact(ids)) {
		t.Error("two subjects have one identifier")
	}
}

// However a text is searched for what names a subject, what is found is what the expression finds.
func TestTriedAsTheWholeExpression(t *testing.T) {
	files, err := filepath.Glob("../signature/testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	var named int
	for i, file := range files {
		if i%8 != 0 {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			named += sameNames(t, line)
			sameNames(t, strings.ToUpper(line))
			sameNames(t, "é "+strings.Repeat(line, 3)+strings.Replace(line, "k", "\u212a", 1))
		}
	}
	if named < 100 {
		t.Errorf("%d subjects are named; the fixtures name more", named)
	}
	for _, s := range subjects { // more places than are tried one by one, and a match behind them
		sameNames(t, strings.Repeat("failed_ wait_for gpu_ out of memory_ connection ", 40)+s.rule.Title+" timed out, no such file")
	}
}

func sameNames(t *testing.T, line string) (named int) {
	t.Helper()
	text := signature.NewText(line)
	for _, s := range subjects {
		want := s.words.FindStringIndex(line)
		if got := s.tried.In(text); !slices.Equal(got, want) {
			t.Errorf("%s is named in %q at %v, want %v", s.rule.ID, line, got, want)
		}
		if want != nil {
			named++
		}
	}
	return named
}

func FuzzTriedAsTheWholeExpression(f *testing.F) {
	f.Add("ValueError: CUDA out of memory, connection refused")
	f.Add("fail\u017f to bind, \u212aelvin")
	f.Fuzz(func(t *testing.T, line string) { sameNames(t, line) })
}
