package redact_test

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
	"github.com/signalbox-dev/signalbox/test/golden"
)

// digest is of what is made of texts in every way.
type digest struct{ hash.Hash }

func (d digest) add(t testing.TB, text string) {
	t.Helper()
	var l redact.Lines
	fmt.Fprintf(d, "%q %q %q ", redact.Line(text), redact.Text(text), l.Next(text))
	if _, err := redact.Copy(d, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
}

// A faster way to mask masks the same bytes. What is made of many thousand texts is kept as a digest of each kind, for
// all of it would be megabytes: a rule that is changed on purpose changes digests, and its own test says how.
func TestWhatIsMaskedIsAsItWas(t *testing.T) {
	digests := map[string]digest{}
	of := func(name string) digest {
		if _, ok := digests[name]; !ok {
			digests[name] = digest{sha256.New()}
		}
		return digests[name]
	}
	var whole []string
	for _, file := range []string{"canaries", "held", "gitleaks", "outsiders", "twins", "calm"} {
		for seed := range uint64(3) {
			for _, c := range canaries(t, "testdata/"+file+".txt", seed) {
				whole = append(whole, c.text)
				of(file).add(t, c.text)
			}
		}
	}
	for _, file := range []string{"strangers", "ordinary"} {
		for _, s := range strangers(t, "testdata/"+file+".jsonl") {
			whole = append(whole, s.Text)
			of(file).add(t, s.Text)
		}
	}
	for name, text := range texts() {
		if _, err := redact.Copy(of("kinds of logs: "+name), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	// All of them as one log, in which what a line hides may stand on the next one, and mixtures of any two.
	if _, err := redact.Copy(of("one log"), strings.NewReader(strings.Join(whole, "\n"))); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(8, 8))
	for range 6_000 {
		of("mixtures").add(t, mixture(r, whole))
	}
	compare(t, "testdata/digests.txt", digests)
}

// mixture is the beginning of a text and the end of another one, and often something between them that ends a word, hides
// one or goes on with it.
func mixture(r *rand.Rand, texts []string) string {
	a, b := texts[r.IntN(len(texts))], texts[r.IntN(len(texts))]
	between := []string{"", "", " ", "\n", "=", ": ", "\"", "\\\"", "'", "\u200b", "\x1b[0m", "\r", "密码", "，", "\xff", "[masked]", "%22", "://", "-----BEGIN PRIVATE KEY-----", "\u212a", ":\n", "bearer:\n"}
	return a[:r.IntN(len(a)+1)] + between[r.IntN(len(between))] + b[r.IntN(len(b)+1):]
}

// What is made of real logs and manifests stays as well.
func TestWhatIsMaskedOfRealLogsIsAsItWas(t *testing.T) {
	digests := map[string]digest{}
	for _, set := range []string{"dev", "dev2", "gangs", "manifests"} {
		d := digest{sha256.New()}
		err := filepath.WalkDir("../../../shared/corpus/"+set, func(name string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				addFile(t, d, name)
			}
			return err
		})
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip("no corpus beside the repository")
		}
		if err != nil {
			t.Fatal(err)
		}
		digests[set] = d
	}
	compare(t, "testdata/digests-corpus.txt", digests)
}

// addFile adds what is made of a file, as a whole and line by line.
func addFile(t *testing.T, d io.Writer, name string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := redact.Copy(d, f); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		fmt.Fprintln(d, redact.Line(lines.Text()))
	}
}

func compare(t *testing.T, file string, digests map[string]digest) {
	t.Helper()
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		fmt.Fprintf(&out, "%x %s\n", digests[name].Sum(nil)[:16], name)
	}
	golden.Equal(t, file, []byte(out.String()))
}
