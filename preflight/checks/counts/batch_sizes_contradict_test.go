package counts

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBatchSizesIn(t *testing.T) {
	cases := map[string]struct {
		text string
		want []map[string]int64
	}{
		"an object":                           {`{"train_batch_size": 8, "gradient_accumulation_steps": 2}`, []map[string]int64{{"train_batch_size": 8, "gradient_accumulation_steps": 2}}},
		"behind another object in it":         {`{"zero": {"stage": 3}, "train_batch_size": 8}`, []map[string]int64{{"train_batch_size": 8}}},
		"in a script":                         {"cat > ds.json <<EOF\n{\"train_batch_size\": 8}\nEOF\npython train.py", []map[string]int64{{"train_batch_size": 8}}},
		"filled in by somebody":               {`{"train_batch_size": 8, "train_micro_batch_size_per_gpu": "auto"}`, []map[string]int64{nil}},
		"a word about it":                     {`echo "train_batch_size" is 8`, nil},
		"cut off":                             {`{"train_batch_size": 8`, nil},
		"at the end of what is looked at":     {strings.Repeat(" ", mostConfig-len(`{"train_batch_size": 8}`)) + `{"train_batch_size": 8}`, []map[string]int64{{"train_batch_size": 8}}},
		"beyond what is looked at":            {strings.Repeat(" ", mostConfig-len(`{"train_batch_size": 8}`)+1) + `{"train_batch_size": 8}`, nil},
		"more than are looked for":            {strings.Repeat(`{"train_batch_size": 8}`, mostConfigs+1), slices.Repeat([]map[string]int64{{"train_batch_size": 8}}, mostConfigs)},
		"behind as many objects as are tried": {`{"a": [` + strings.Repeat("{}, ", mostObjects-1) + `0], "train_batch_size": 8}`, []map[string]int64{{"train_batch_size": 8}}},
		"behind one object too many":          {`{"a": [` + strings.Repeat("{}, ", mostObjects) + `0], "train_batch_size": 8}`, nil},
		"made to be slow":                     {strings.Repeat("{", 1<<20) + `"train_batch_size"`, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, batchSizesIn(tc.text)); diff != "" {
				t.Errorf("batchSizesIn (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzBatchSizesIn: no text stops a review, and sizes are above 0.
func FuzzBatchSizesIn(f *testing.F) {
	for _, seed := range []string{`{"train_batch_size": 8}`, `{"a": {"b": 1}, "train_batch_size": "auto"}`, `{"train_batch_size": {"train_batch_size": 1}}`, `{{{"train_batch_size"`, `"train_batch_size": 1}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all := batchSizesIn(text)
		if len(all) > mostConfigs {
			t.Errorf("%d configurations; want %d at most", len(all), mostConfigs)
		}
		for _, sizes := range all {
			for name, n := range sizes {
				if n <= 0 {
					t.Errorf("%s is %d", name, n)
				}
			}
		}
	})
}
