package manifest_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// read is everything a stream gives, one line for each document or problem.
func read(name, text string) []string {
	var out []string
	for d, err := range manifest.Read(name, strings.NewReader(text)) {
		switch {
		case err != nil:
			out = append(out, err.Error())
		case d.List:
			out = append(out, fmt.Sprintf("%s frame of %s", d.Where(), d.Object.GetKind()))
		default:
			b, _ := json.Marshal(d.Object.Object)
			out = append(out, fmt.Sprintf("%s %s", d.Where(), b))
		}
	}
	return out
}

func TestReadGivesWhatKubectlWouldSend(t *testing.T) {
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`
	cases := map[string]struct {
		name, text string
		want       []string
	}{
		"two documents and comments between": {
			text: "# one\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n# nothing here\n---\n\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n...\n",
			want: []string{"f.yaml:3 " + pod, "f.yaml:10 " + pod},
		},
		"CRLF line ends": {
			text: "apiVersion: v1\r\nkind: Pod\r\nmetadata:\r\n  name: a\r\n---\r\napiVersion: v1\r\nkind: Pod\r\nmetadata:\r\n  name: a\r\n",
			want: []string{"f.yaml:1 " + pod, "f.yaml:6 " + pod},
		},
		"a byte order mark": {
			text: "\ufeffapiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
			want: []string{"f.yaml:1 " + pod},
		},
		"UTF-16 as PowerShell writes it": {
			text: utf16le("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"),
			want: []string{"f.yaml:1 " + pod},
		},
		"gzip": {
			text: zipped("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"),
			want: []string{"f.yaml:1 " + pod},
		},
		"gzip in gzip": {
			text: zipped(zipped("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n")),
			want: []string{"f.yaml:1 " + pod},
		},
		"a whole file indented, markers too": {
			text: "  ---\n  apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n  ---\n  apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n",
			want: []string{"f.yaml:2 " + pod, "f.yaml:7 " + pod},
		},
		"the object begins on the marker's line": {
			text: "--- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n",
			want: []string{"f.yaml:1 " + pod},
		},
		"JSON values one after the other": {
			name: "f.json", text: pod + "\n\n" + pod,
			want: []string{"f.json:1 " + pod, "f.json:3 " + pod},
		},
		"JSON escapes and tabs": {
			name: "f.json", text: "{\n\t\"apiVersion\":\t\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"\\ud83d\\ude80\\/\"}}",
			want: []string{`f.json:1 {"apiVersion":"v1","kind":"Pod","metadata":{"name":"🚀/"}}`},
		},
		"a List, a PodList whose items do not say what they are, and an empty list": {
			text: "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n---\n" +
				`{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}` + "\n---\n{kind: List, apiVersion: v1, items: null}\n",
			want: []string{"f.yaml:4 " + pod, "f.yaml:1 frame of List", "f.yaml:8 " + pod, "f.yaml:8 frame of PodList", "f.yaml:10 frame of List"},
		},
		"booleans and numbers as kubectl reads them": {
			text: "apiVersion: v1\nkind: X\na: yes\nb: \"yes\"\nc: off\nd: 010\ne: 1e3\nf: 1.5\ng: 2.0\nh: ~\ni:\nj: 2026-01-02\nk: 1_000\nl: !!str 5\nm: 99999999999999999999\n1: x\n",
			want: []string{`f.yaml:1 {"1":"x","a":true,"apiVersion":"v1","b":"yes","c":false,"d":8,"e":1000,"f":1.5,"g":2,"h":null,"i":null,"j":"2026-01-02","k":1000,"kind":"X","l":"5","m":100000000000000000000}`},
		},
		"anchors, aliases and merge keys": {
			text: "apiVersion: v1\nkind: X\nbase: &b {cpu: 1, memory: 2Gi}\na: *b\nb:\n  <<: *b\n  cpu: 4\nc:\n  <<: [{x: 1}, {x: 2, z: 3}]\n",
			want: []string{`f.yaml:1 {"a":{"cpu":1,"memory":"2Gi"},"apiVersion":"v1","b":{"cpu":4,"memory":"2Gi"},"base":{"cpu":1,"memory":"2Gi"},"c":{"x":1,"z":3},"kind":"X"}`},
		},
		"of a key that is written twice the last one counts, as for kubectl": {
			text: "apiVersion: v1\nkind: X\nspec:\n  cpu: 1\n  gpu: {a: 1}\n  cpu: 3\n  gpu: {b: 2}\n",
			want: []string{`f.yaml:1 {"apiVersion":"v1","kind":"X","spec":{"cpu":3,"gpu":{"b":2}}}`},
		},
		"so it is in JSON": {
			name: "f.json", text: "{\"apiVersion\":\"v1\",\n\"kind\":\"X\",\n\"a\":1,\"a\":2}",
			want: []string{`f.json:1 {"a":2,"apiVersion":"v1","kind":"X"}`},
		},
		"a block scalar may hold what looks like a list or a key": {
			text: "apiVersion: v1\nkind: X\nscript: |\n  items:\n  - --- not a marker\n   ---\n",
			want: []string{`f.yaml:1 {"apiVersion":"v1","kind":"X","script":"items:\n- --- not a marker\n ---\n"}`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.name == "" {
				tc.name = "f.yaml"
			}
			if diff := cmp.Diff(tc.want, read(tc.name, tc.text)); diff != "" {
				t.Errorf("Read (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadNamesLineAndExpectation(t *testing.T) {
	cases := map[string]struct{ name, text, want string }{
		"gzip in gzip in gzip": {
			text: zipped(zipped(zipped("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"))),
			want: `f.yaml: compressed more than 2 times; expected YAML or JSON, plain or compressed with gzip`,
		},
		"an object that would fill the memory": {
			text: "---\napiVersion: v1\n" + strings.Repeat("a: b\n", 4_000_000),
			want: `f.yaml:1: one object of more than 4000000 values; expected Kubernetes objects, each in a document or an element of a List of its own`,
		},
		"an element of a list that would fill the memory": {
			text: "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n" + strings.Repeat("  a: b\n", 4_000_000),
			want: `f.yaml:1: one object of more than 4000000 values; expected Kubernetes objects, each in a document or an element of a List of its own`,
		},
		"the same in JSON": {
			name: "f.json", text: `{"apiVersion": "v1", "kind": "ConfigMap", "data": [0` + strings.Repeat(",0", 4_000_000) + "]}",
			want: `f.json:1: one object of more than 4000000 values; expected Kubernetes objects, each in a document or an element of a List of its own`,
		},
		"a line that goes on and on": {
			text: "apiVersion: v1\nkind: X\na: " + strings.Repeat("x", 65<<20),
			want: `f.yaml:1: one object of 65 MiB; expected Kubernetes objects, each in a document or an element of a List of its own`,
		},
		"a bracket of one line that is not closed": {
			text: "# nothing\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: x\nspec: {a: [1,2}\n",
			want: `f.yaml:7: YAML: did not find expected ',' or ']'; expected a comma or the closing bracket`,
		},
		"a bracket of the first line": {
			text: "{apiVersion: v1, kind: [Pod}\n",
			want: `f.yaml:1: YAML: did not find expected ',' or ']'; expected a comma or the closing bracket`,
		},
		"a bracket at the end": {
			text: "apiVersion: v1\nkind: [\n",
			want: `f.yaml:2: YAML: did not find expected node content; expected a value, quoted where it begins with a special character, or the closing bracket`,
		},
		"truncated JSON": {
			name: "f.json", text: "{\"apiVersion\":\"v1\",\n\"spec\":{\n  \"a\": [1,\n",
			want: `f.json:3: JSON ends inside the list that begins at line 3; expected "]" (is the file whole?)`,
		},
		"JSON cut in a word": {
			name: "f.json", text: "{\"apiVersion\":\"v1\",\n\"spec\":{\n  \"na",
			want: `f.json:3: JSON ends inside the object that begins at line 2; expected "}" (is the file whole?)`,
		},
		"JSON with a comma too many": {
			name: "f.json", text: "{\"apiVersion\":\"v1\",\n\"kind\":\"Pod\",\n}",
			want: `f.json:3: JSON: a comma stands before "}"; expected none after the last element`,
		},
		"JSON with a comma too many in a list": {
			name: "f.json", text: "{\"apiVersion\":\"v1\",\"a\":[1,\n2, ]}",
			want: `f.json:2: JSON: a comma stands before "]"; expected none after the last element`,
		},
		"a tab": {
			text: "apiVersion: v1\nspec:\n\tname: x\n",
			want: "f.yaml:3: indented with a tab; expected spaces, which YAML indents with",
		},
		"indentation": {
			text: "apiVersion: v1\nspec:\n  a: 1\n b: 2\n",
			want: "f.yaml:4: YAML: did not find expected key; expected a key that is indented like its neighbours",
		},
		"an open quote": {
			text: "apiVersion: \"v1\nkind: Pod\n",
			want: "f.yaml:2: YAML: found unexpected end of stream; expected a closing quote or bracket",
		},
		"a template nobody filled in": {
			text: "apiVersion: v1\nkind: Pod\n{{- if .Values.x }}\nspec: {}\n{{- end }}\n",
			want: "f.yaml:3: YAML: could not find expected ':'; expected a colon and a space after the key (line 3 holds {{…}} that no template engine has filled in)",
		},
		"an alias bomb": {
			text: bomb(),
			want: "f.yaml:8: aliases multiply the document into more than 200000 values; expected anchors that stand for a few lines",
		},
		"an anchor in itself": {
			text: "apiVersion: v1\nkind: X\na: &a [*a]\n",
			want: `f.yaml:3: anchor "a" contains itself; expected an anchor that ends before it is used`,
		},
		"nested without end": {
			text: "apiVersion: v1\nkind: X\na: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
			want: "f.yaml:3: nested more than 1000 levels deep; expected a Kubernetes object",
		},
		"JSON nested without end": {
			name: "f.json", text: `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}",
			want: "f.json:1: nested more than 1000 levels deep; expected a Kubernetes object",
		},
		"a List of what is none": {
			text: "apiVersion: v1\nkind: List\nitems: {a: b}\n", want: "f.yaml:1: a List whose items are no list; expected a list of objects",
		},
		"text": {
			text: "hello\n", want: "f.yaml:1: a single line of text; expected a Kubernetes object with apiVersion and kind",
		},
		"no kind": {
			text: "apiVersion: v1\n", want: "f.yaml:1: kind is missing; expected a Kubernetes object with apiVersion and kind",
		},
		"kind is empty": {
			text: "apiVersion: v1\nkind:\n", want: "f.yaml:2: kind is empty; expected a word such as PyTorchJob",
		},
		"not a number for JSON": {
			text: "apiVersion: v1\nkind: X\na: .inf\n", want: "f.yaml:3: .inf is not a number that JSON can hold; expected a finite number, or quotes around it",
		},
		"binary": {
			text: "ab\x00cd", want: "f.yaml:1: a zero byte: this is not text; expected YAML or JSON",
		},
		"binary that looks like several documents": {
			text: "ab\x00cd\n---\nef\x00\n---\n\tx", want: "f.yaml:1: a zero byte: this is not text; expected YAML or JSON",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.name == "" {
				tc.name = "f.yaml"
			}
			if diff := cmp.Diff([]string{tc.want}, read(tc.name, tc.text)); diff != "" {
				t.Errorf("Read (-want +got):\n%s", diff)
			}
		})
	}
}

// What kubectl sends is what sigs.k8s.io/yaml makes of a file; both doors must see the same.
func TestScalarsReadAsKubectlReadsThem(t *testing.T) {
	for _, word := range []string{
		"y", "Y", "yes", "Yes", "on", "ON", "n", "No", "off", "true", "True", "FALSE", "yEs", "tRue", "'yes'", "!!str yes", "!!bool yes",
		"1", "010", "0o10", "0x1f", "0b11", "-5", "+5", "1_000", "1:30", "1e3", "1E3", "1.5", ".5", "5.", "2.0", "1e21", "1e-7", "9223372036854775807",
		"9223372036854775808", "-9223372036854775808", "0.1", "1_000.5", "~", "null", "Null", "", "2026-01-02", "2026-01-02T03:04:05Z", "12:30:45",
		"16Gi", "500m", "0777", "08", "!!float 3", "!!int 3", "'5'", "\"a\\tb\"", "=", "<", "a b", "!foo bar", "!!binary aGk=", "|\n  x\n  y\n", ">-\n  x\n  y\n",
	} {
		text := "apiVersion: v1\nkind: X\nv: " + word + "\n"
		js, err := sigsyaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", word, err)
		}
		want := map[string]any{}
		if err := utiljson.Unmarshal(js, &want); err != nil {
			t.Fatal(err)
		}
		for d, err := range manifest.Read("f.yaml", strings.NewReader(text)) {
			if err != nil {
				t.Errorf("%s: %v", word, err)
				continue
			}
			if diff := cmp.Diff(want, d.Object.Object); diff != "" {
				t.Errorf("%s (-want +got):\n%s", word, diff)
			}
		}
	}
}

func TestALogIsNoBrokenManifest(t *testing.T) {
	got := read("worker.log", "step 1\nINFO: kind: a loss of 2.3\n")
	want := []string{"worker.log:2: YAML: mapping values are not allowed in this context; expected a Kubernetes object with apiVersion and kind; of a log signalbox diagnose says what went wrong"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Read (-want +got):\n%s", diff)
	}
}

func TestReadGoesOnAfterABrokenDocument(t *testing.T) {
	got := read("f.yaml", "apiVersion: v1\nkind: A\n---\na: b: c\n---\napiVersion: v1\nkind: B\n")
	want := []string{
		`f.yaml:1 {"apiVersion":"v1","kind":"A"}`,
		"f.yaml:4: YAML: mapping values are not allowed in this context; expected one \"key: value\" a line, indented like its neighbours; text with \": \" needs quotes",
		`f.yaml:6 {"apiVersion":"v1","kind":"B"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Read (-want +got):\n%s", diff)
	}
}

func TestPositionPointsAtTheLine(t *testing.T) {
	const text = `# a job
apiVersion: kubeflow.org/v1
kind: PyTorchJob
x: &x
  deep: 1
spec:
  pytorchReplicaSpecs:
    Worker:
      template:
        spec:
          containers:
          - image: a
            name: sidecar
          - name: pytorch
            resources:
              limits:
                nvidia.com/gpu: 9
          merged:
            <<: *x
`
	const below = "spec.pytorchReplicaSpecs.Worker.template.spec"
	cases := map[job.Path]int{
		"":                                  2,
		"kind":                              3,
		"spec.pytorchReplicaSpecs.Worker":   8,
		"spec.pytorchReplicaSpecs.Master":   7,
		below + ".containers[1]":            14,
		below + ".containers[name=pytorch]": 14,
		below + ".containers[0].name":       13,
		below + ".containers[7].name":       11,
		below + ".merged.deep":              5,
		below + `.containers[1].resources.limits["nvidia.com/gpu"]`: 17,
		"][": 2,
	}
	for d, err := range manifest.Read("f.yaml", strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range cases {
			if got := d.Position(path); got != want {
				t.Errorf("Position(%s) = %d, want %d", path, got, want)
			}
		}
	}
}

func TestBigListsReadLikeSmallOnes(t *testing.T) {
	filler := strings.Repeat("x", 300)
	var y, j strings.Builder
	y.WriteString("# head\n---\napiVersion: v1\nitems:\n")
	j.WriteString("{\n\"apiVersion\": \"v1\",\n\"items\": [")
	for i := range 5000 {
		fmt.Fprintf(&y, "- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: p%d\n    annotations:\n      a: |\n        - %s\n\n        end\n", i, filler)
		fmt.Fprintf(&j, "%s\n{\"apiVersion\": \"v1\", \"kind\": \"Pod\",\n \"metadata\": {\"name\": \"p%d\", \"annotations\": {\"a\": %q}}}", map[bool]string{true: ","}[i > 0], i, "- "+filler+"\n\nend\n")
	}
	y.WriteString("kind: List\nmetadata:\n  annotations:\n    signalbox.dev/complete: pods\n---\napiVersion: v1\nkind: Last\n")
	j.WriteString("\n],\n\"kind\": \"List\", \"metadata\": {\"annotations\": {\"signalbox.dev/complete\": \"pods\"}}}\n")

	gotY, gotJ := read("f.yaml", y.String()), read("f.json", j.String())
	if len(gotY) != 5002 || len(gotJ) != 5001 {
		t.Fatalf("read %d and %d documents, want 5002 and 5001; first: %.300s", len(gotY), len(gotJ), gotY[0])
	}
	want := func(name string, line int) string {
		return fmt.Sprintf(`%s:%d {"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{"a":"- %s\n\nend\n"},"name":"p4999"}}`, name, line, filler)
	}
	if diff := cmp.Diff([]string{want("f.yaml", 5+4999*9), "f.yaml:3 frame of List", "f.yaml:45010 " + `{"apiVersion":"v1","kind":"Last"}`}, gotY[4999:]); diff != "" {
		t.Errorf("YAML (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{want("f.json", 4+4999*2), "f.json:1 frame of List"}, gotJ[4999:]); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "---\n", "{", "[", "a: &a [*a]", "\xff\xfea", "\x1f\x8b", "kind: List\nitems:\n- 1\n", "  a: b\n  ---\n  c: d", `{"kind":"List","items":[{}]}`, "<<: 1", "? [a]\n: b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for d, err := range manifest.Read("f.yaml", strings.NewReader(text)) {
			if err == nil {
				if d.Object.GetKind() == "" || d.Line < 1 {
					t.Errorf("document without kind or line: %+v", d)
				}
				d.Position("metadata.labels[\"a/b\"].c[0][name=x]")
			}
		}
	})
}

func TestAnElementThatWouldFillTheMemoryLeavesTheOthers(t *testing.T) {
	text := `{"apiVersion": "v1", "kind": "PodList", "items": [` + "\n" + `{"metadata": {"name": "a"}},` + "\n" + `{"data": [0` + strings.Repeat(",0", 4_000_000) + "]}]}"
	want := []string{
		`f.json:2 {"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`,
		`f.json:3: one object of more than 4000000 values; expected Kubernetes objects, each in a document or an element of a List of its own`,
		"f.json:1 frame of PodList",
	}
	if diff := cmp.Diff(want, read("f.json", text)); diff != "" {
		t.Errorf("Read (-want +got):\n%s", diff)
	}
}

func bomb() string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: X\na0: &a0 [x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 9; i++ {
		r := fmt.Sprintf("*a%d", i-1)
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.Repeat(r+",", 8)+r)
	}
	return b.String()
}

func utf16le(s string) string {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return string(out)
}

func zipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}
