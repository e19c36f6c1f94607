package kinds

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestCorpus reads real manifests in place, where they are at hand: no panic, an answer
// for each, and no path that dangles.
func TestCorpus(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/corpus/manifests/dev/*.yaml")
	if len(files) == 0 {
		t.Skip("the corpus is not here")
	}
	whole, partly, nothing := 0, 0, 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for doc := range bytes.SplitSeq(b, []byte("\n---")) {
			m := map[string]any{}
			if yaml.Unmarshal(doc, &m) != nil || len(m) == 0 {
				continue
			}
			u := &unstructured.Unstructured{Object: normal(m).(map[string]any)}
			k := For(u.GroupVersionKind())
			if k == nil {
				continue
			}
			j, err := k.Read(u, nil)
			t.Run(filepath.Base(file), func(t *testing.T) { lawful(t, k, u, j, err) })
			var readErr *ReadError
			switch {
			case err == nil:
				whole++
			case !errors.As(err, &readErr):
				t.Errorf("%s: %v is no *ReadError", file, err)
			case j != nil:
				partly++
			default:
				nothing++
			}
		}
	}
	t.Logf("%d read whole, %d with problems, %d not at all", whole, partly, nothing)
	if whole < 50 {
		t.Errorf("only %d manifests were read whole", whole)
	}
}
