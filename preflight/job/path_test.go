package job

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPathIsWhatAPersonWouldWrite(t *testing.T) {
	cases := map[string]struct {
		got  Path
		want string
	}{
		"nothing":              {"", ""},
		"fields":               {Path("spec").Child("template", "spec"), "spec.template.spec"},
		"index":                {Path("spec").Child("containers").Index(0).Child("image"), "spec.containers[0].image"},
		"resource name":        {Path("limits").Key("nvidia.com/gpu"), `limits["nvidia.com/gpu"]`},
		"first key is quoted":  {Path("").Key("a.b").Child("c"), `["a.b"].c`},
		"quote in a key":       {Path("a").Key(`b"]c`), `a["b\"]c"]`},
		"empty key":            {Path("a").Key(""), `a[""]`},
		"named element":        {Path("jobs").Named("worker-0").Child("x"), "jobs[name=worker-0].x"},
		"name with a bracket":  {Path("jobs").Named("a]b"), `jobs[name="a]b"]`},
		"name with nothing":    {Path("jobs").Named(""), `jobs[name=""]`},
		"joined to nothing":    {Path("").Join("a.b"), "a.b"},
		"nothing joined":       {Path("a").Join(""), "a"},
		"joined fields":        {Path("a").Join("b[0]"), "a.b[0]"},
		"joined index":         {Path("a").Join("[0].b"), "a[0].b"},
		"parent of a field":    {Path("a.b[0].c").Parent(), "a.b[0]"},
		"parent of an index":   {Path("a.b[0]").Parent(), "a.b"},
		"parent of a key":      {Path(`a["b.c"]`).Parent(), "a"},
		"parent of one field":  {Path("a").Parent(), ""},
		"parent of nothing":    {Path("").Parent(), ""},
		"parent of nonsense":   {Path("a..b[").Parent(), ""},
		"after":                {Path("a.b[0].c").After("a.b"), "[0].c"},
		"after a field":        {Path("a.b.c").After("a"), "b.c"},
		"after the whole":      {Path("a.b").After("a.b"), ""},
		"after the empty path": {Path("a.b").After(""), "a.b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, string(tc.got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWithinKnowsWhereWordsEnd(t *testing.T) {
	cases := []struct {
		p, q Path
		want bool
	}{
		{"spec.a", "", true},
		{"spec.a", "spec", true},
		{"spec.a", "spec.a", true},
		{"spec.ab", "spec.a", false},
		{"spec[0]", "spec", true},
		{"spec[01]", "spec[0]", false},
		{"spec", "spec.a", false},
		{`spec["a.b"]`, "spec", true},
	}
	for _, tc := range cases {
		if got := tc.p.Within(tc.q); got != tc.want {
			t.Errorf("%q within %q: %t, want %t", tc.p, tc.q, got, tc.want)
		}
	}
}

func TestResolve(t *testing.T) {
	object := map[string]any{
		"spec": map[string]any{
			"jobs": []any{
				map[string]any{"name": "a", "n": int64(1)},
				"not an object",
				map[string]any{"name": "b]c", "limits": map[string]any{"nvidia.com/gpu": int64(8), "null": nil}},
			},
		},
	}
	cases := map[Path]struct {
		want any
		fail string
	}{
		"spec.jobs[0].n":                                 {want: int64(1)},
		"spec.jobs[name=a].n":                            {want: int64(1)},
		`spec.jobs[name="a"].n`:                          {want: int64(1)},
		`spec.jobs[name="b]c"].limits["nvidia.com/gpu"]`: {want: int64(8)},
		"spec.jobs[2].limits.null":                       {want: nil},
		"spec.jobs[3]":                                   {fail: "resolve spec.jobs[3]: nothing at spec.jobs[3]"},
		"spec.jobs[name=z].n":                            {fail: "resolve spec.jobs[name=z].n: nothing at spec.jobs[name=z]"},
		"spec.jobs.n":                                    {fail: "resolve spec.jobs.n: nothing at spec.jobs.n"},
		"spec[0]":                                        {fail: "resolve spec[0]: nothing at spec[0]"},
		"spec.jobs[1].n":                                 {fail: "resolve spec.jobs[1].n: nothing at spec.jobs[1].n"},
		"spec..jobs":                                     {fail: `parse path "spec..jobs": empty name at byte 5`},
		"spec.jobs[":                                     {fail: `parse path "spec.jobs[": no ] after byte 9`},
		"spec.jobs[-1]":                                  {fail: `parse path "spec.jobs[-1]": "-1" is neither an index, a name nor a quoted key`},
		`spec["a`:                                        {fail: `parse path "spec[\"a": unclosed quote at byte 5`},
		`spec["a"x]`:                                     {fail: `parse path "spec[\"a\"x]": no ] at byte 8`},
	}
	for p, tc := range cases {
		t.Run(string(p), func(t *testing.T) {
			got, err := p.Resolve(object)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff(tc.fail, text); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzPath holds the builders against the walker: what is built from keys and positions
// leads to the value that stands there; and any text at all is either a path or an error.
func FuzzPath(f *testing.F) {
	f.Add("spec", "nvidia.com/gpu", "worker", 2, "spec.jobs[name=a].x[0]")
	f.Add("", `"]`, "a]b", 0, `a["`)
	f.Add("a.b[0]", "\xff\x00", "=", 1, "[name=]")
	f.Fuzz(func(t *testing.T, first, key, name string, index int, any_ string) {
		index = max(index, 0) % 4
		list := make([]any, index+1)
		list[index] = map[string]any{"name": name, key: "here"}
		if key == "name" {
			list[index] = map[string]any{"name": name}
		}
		object := map[string]any{first: map[string]any{"list": list}}
		base := Path("").Key(first).Child("list")
		for _, element := range []Path{base.Index(index), base.Named(name)} {
			p := element.Key(key)
			got, err := p.Resolve(object)
			if want := list[index].(map[string]any)[key]; err != nil || got != want {
				t.Errorf("%q leads to %v, %v; want %v", p, got, err, want)
			}
			if p.Parent() != element || !p.Within(base) || base.Join(p.After(base)) != p {
				t.Errorf("%q: parent %q, after %q", p, p.Parent(), p.After(base))
			}
		}
		text(t, Path(any_), object)
	})
}

func text(t *testing.T, p Path, object any) {
	_, err := p.Resolve(object)
	parseErr := p.parse()
	if parseErr != nil && err == nil {
		t.Errorf("%q is no path and leads somewhere", p)
	}
	parent := p.Parent()
	if parseErr == nil && p != "" && (len(parent) >= len(p) || !strings.HasPrefix(string(p), string(parent))) {
		t.Errorf("%q has the parent %q", p, parent)
	}
}

func TestReplacePutsAValueWhereThePathLeads(t *testing.T) {
	object := func() map[string]any {
		return map[string]any{"spec": map[string]any{"a.b": nil, "list": []any{map[string]any{"name": "x"}, 2}}}
	}
	cases := map[Path]string{
		`spec["a.b"]`:            `{"spec":{"a.b":"new","list":[{"name":"x"},2]}}`,
		"spec.list[1]":           `{"spec":{"a.b":null,"list":[{"name":"x"},"new"]}}`,
		"spec.list[name=x]":      `{"spec":{"a.b":null,"list":["new",2]}}`,
		"spec.list[name=x].name": `{"spec":{"a.b":null,"list":[{"name":"new"},2]}}`,
		"spec":                   `{"spec":"new"}`,
		"spec.none":              "resolve spec.none: nothing at spec.none",
		"spec.list[2]":           "resolve spec.list[2]: nothing at spec.list[2]",
		"spec.list[":             `parse path "spec.list[": no ] after byte 9`,
		"":                       "replace: the path is empty",
	}
	for path, want := range cases {
		o, got := object(), ""
		if err := path.Replace(o, "new"); err != nil {
			got = err.Error()
		} else if text, err := json.Marshal(o); err == nil {
			got = string(text)
		}
		if got != want {
			t.Errorf("Replace(%s) gives %s, want %s", path, got, want)
		}
	}
}

// TestPathsAreOrderedAsPeopleCount: the order is total, and positions are numbers in it.
func TestPathsAreOrderedAsPeopleCount(t *testing.T) {
	want := []Path{
		"", "a", "a.b", "a[2]", "a[2].z", "a[10]", "a[10].b[9]", "a[10].b[10]", "a[100]", "a[name=w10]", "a[name=w2]", "ab", "b10", "b2",
	}
	for i, p := range want {
		for k, q := range want {
			order := 0
			if i != k {
				order = 1 - 2*min(1, max(0, k-i)) // -1 before, 1 after
			}
			if got := p.Compare(q); got != order {
				t.Errorf("%q against %q is %d; want %d", p, q, got, order)
			}
		}
	}
}
