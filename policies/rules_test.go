package policies_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
)

// TestExemptions: an exception takes back what the same policy said, whole or below a path, and
// leaves a trace.
func TestExemptions(t *testing.T) {
	deny := "deny contains {\"path\": \"spec.w.image\", \"msg\": \"no\"} if input.job.gpus > 8\n"
	kept := []preflight.Ruling{{Policy: "limit", Effect: preflight.Deny, Message: "no", Path: "spec.w.image", Remedy: "Do it otherwise."}}
	cases := map[string]struct {
		rules string
		want  preflight.Ruled
	}{
		"of all":                  {deny + `exempt contains {"msg": "team x may"} if input.job.labels.team == "x"`, preflight.Ruled{Exempted: []string{"limit: team x may"}}},
		"as a text":               {deny + `exempt contains "team x may" if input.job.labels.team == "x"`, preflight.Ruled{Exempted: []string{"limit: team x may"}}},
		"below a path":            {deny + `exempt contains {"path": "spec.w", "msg": "w may"} if input.job.gpus > 8`, preflight.Ruled{Exempted: []string{"limit: w may"}}},
		"of another path":         {deny + `exempt contains {"path": "spec.v", "msg": "v may"} if input.job.gpus > 8`, preflight.Ruled{Rulings: kept}},
		"a path is no prefix":     {deny + `exempt contains {"path": "spec.w.im", "msg": "v may"} if input.job.gpus > 8`, preflight.Ruled{Rulings: kept}},
		"that does not hold":      {deny + `exempt contains "y" if input.job.labels.team == "y"`, preflight.Ruled{Rulings: kept}},
		"that rests on a finding": {deny + `exempt contains "known" if input.findings[_].check == "shm-missing"`, preflight.Ruled{Exempted: []string{"limit: known"}}},
		"of what nobody denies":   {strings.Replace(deny, "> 8", "> 800", 1) + `exempt contains "team x may" if input.job.labels.team == "x"`, preflight.Ruled{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, decide(t, load(t, files("p.rego", policy("limit", tc.rules))), input("enforce"))); diff != "" {
				t.Errorf("Decide (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("that fails", func(t *testing.T) {
		got := decide(t, load(t, files("p.rego", policy("limit", deny+`exempt contains "x" if to_number(input.job.name) > 3`))), input("enforce"))
		if diff := cmp.Diff(kept, got.Rulings); diff != "" || len(got.Undecided) != 1 || !strings.HasPrefix(got.Undecided[0], "limit: no exception was made: ") {
			t.Errorf("%+v; want the denial, and why no exception was made", got)
		}
	})
	t.Run("of what is closed on failure", func(t *testing.T) {
		o := load(t, files("p.rego", closed("deny contains \"x\" if to_number(input.job.name) > 3\n"+`exempt contains "who repairs it" if input.job.labels.team == "x"`)))
		got := decide(t, o, input("enforce"))
		if len(got.Rulings) != 0 || len(got.Undecided) != 1 || len(got.Exempted) != 1 {
			t.Errorf("%+v; want it undecided, and no denial", got)
		}
	})
}

// TestConftestsHabits: rules of package main load as they are written for Conftest, and see the object.
func TestConftestsHabits(t *testing.T) {
	in := input("enforce")
	in.Object = preflight.Object{Written: &unstructured.Unstructured{Object: map[string]any{"kind": "PyTorchJob", "spec": map[string]any{"n": int64(3)}}}}
	said := func(effect preflight.Effect, msg string) preflight.Ruling {
		return preflight.Ruling{Policy: "main", Effect: effect, Message: msg}
	}
	cases := map[string]struct {
		text string
		want []preflight.Ruling
	}{
		"v0":             {"package main\ndeny[msg] {\n\tinput.kind == \"PyTorchJob\"\n\tmsg := sprintf(\"n is %d\", [input.spec.n])\n}", []preflight.Ruling{said(preflight.Deny, "n is 3")}},
		"v1":             {"package main\ndeny contains msg if {\n\tinput.spec.n > 2\n\tmsg := \"large\"\n}", []preflight.Ruling{said(preflight.Deny, "large")}},
		"import rego.v1": {"package main\nimport rego.v1\ndeny contains msg if {\n\tinput.spec.n > 2\n\tmsg := \"large\"\n}", []preflight.Ruling{said(preflight.Deny, "large")}},
		"violation":      {"package main\nviolation[{\"msg\": msg}] {\n\tinput.spec.n > 2\n\tmsg := \"large\"\n}", []preflight.Ruling{said(preflight.Deny, "large")}},
		"a name behind":  {"package main\ndeny_large[msg] {\n\tinput.spec.n > 2\n\tmsg := \"large\"\n}", []preflight.Ruling{said(preflight.Deny, "large")}},
		"warn":           {"package main\nwarn[msg] {\n\tinput.spec.n > 2\n\tmsg := \"large\"\n}", []preflight.Ruling{said(preflight.Warn, "large")}},
		"nothing to say": {"package main\ndeny[msg] {\n\tinput.kind == \"Deployment\"\n\tmsg := \"no\"\n}", nil},
		"settings":       {"package main\ndeny[msg] {\n\tinput.spec.n > data.config.most\n\tmsg := \"large\"\n}", []preflight.Ruling{said(preflight.Deny, "large")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := decide(t, load(t, files("p.rego", tc.text, "x.yaml", "config: {most: 2}")), in)
			if diff := cmp.Diff(preflight.Ruled{Rulings: tc.want}, got); diff != "" {
				t.Errorf("Decide (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("two files and a library", func(t *testing.T) {
		o := load(t, files(
			"a.rego", "package main\nimport data.lib.sizes\ndeny[msg] {\n\tsizes.large\n\tmsg := \"large\"\n}",
			"b.rego", "package main\ndeny[msg] {\n\tinput.spec.n == 3\n\tmsg := \"three\"\n}",
			"c.rego", "package lib.sizes\nlarge {\n\tinput.spec.n > 2\n}",
			"own.rego", policy("big_job", big),
		))
		var got []string
		for _, r := range decide(t, o, in).Rulings {
			got = append(got, r.Policy+": "+r.Message)
		}
		if diff := cmp.Diff([]string{"big-job: Worker has 9 pods; 8 are allowed", "main: large", "main: three"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("a library for Gatekeeper, too", func(t *testing.T) {
		o := load(t, files("a.rego", "package main\nimport data.lib.core\ndeny[msg] {\n\tcore.object.spec.n > 2\n\tmsg := \"large\"\n}",
			"b.rego", "package lib.core\nobject = input.review.object {\n\tinput.review\n}\nobject = input {\n\tnot input.review\n}"))
		if diff := cmp.Diff(preflight.Ruled{Rulings: []preflight.Ruling{said(preflight.Deny, "large")}}, decide(t, o, in)); diff != "" {
			t.Errorf("Decide (-want +got):\n%s", diff)
		}
	})
	t.Run("closed on failure, and always", func(t *testing.T) {
		o := load(t, files("a.rego", "package main\ndeny[msg] {\n\tto_number(input.kind) > 2\n\tmsg := \"large\"\n}",
			"b.rego", "# METADATA\n# custom: {failure: closed, mode: always}\npackage main\ndeny[msg] {\n\tinput.spec.n > 9\n\tmsg := \"large\"\n}"))
		warned := in
		warned.Request.Mode = preflight.ModeWarn
		if got := decide(t, o, warned).Rulings; len(got) != 1 || got[0].Effect != preflight.Deny || !strings.Contains(got[0].Message, "is closed on failure") {
			t.Errorf("%+v; want a denial", got)
		}
	})
	refused := map[string]string{
		"package kubernetes\ndeny[msg] { input.kind == \"x\"; msg := \"x\" }":                               "it is in Rego v0, which is read in package main only, and the package is kubernetes",
		"package main\nviolation[{\"msg\": msg}] { msg := input.review.object.kind }":                       "line 2: input.review.object.kind is Gatekeeper's",
		"package main\ndeny contains \"x\" if input.metadata.name in input.parameters.names":                "line 2: input.parameters.names is Gatekeeper's",
		"package main\ndeny { input.kind == \"x\" }":                                                        "line 2: deny is not a set",
		"package main\nallow { input.kind == \"x\" }":                                                       "neither deny, violation nor warn",
		"package main\nexception[rules] { rules := [\"x\"] }\ndeny[msg] { msg := \"x\" }":                   "exceptions of Conftest are not read",
		"package main\ndeny[msg] { http.send({\"method\": \"get\", \"url\": \"http://x\"}); msg := \"x\" }": "undefined function http.send",
	}
	for text, want := range refused {
		if _, err := policies.Load(files("p.rego", text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", text, err, want)
		}
	}
}

// TestNothingReachesOutside: no network, no environment, no clock, no chance, and no number without end.
func TestNothingReachesOutside(t *testing.T) {
	for _, call := range []string{
		`http.send({"method": "get", "url": "http://x"})`, `net.lookup_ip_addr("x")`, `net.cidr_contains("10.0.0.0/8", "10.0.0.1")`, `opa.runtime()`, `time.now_ns()`,
		`rand.intn("x", 3)`, `crypto.x509.parse_and_verify_certificates("x")[0]`, `crypto.x509.parse_and_verify_certificates_with_options("x", {})[0]`,
		`uuid.rfc4122("x")`, `rego.parse_module("x", "package x")`, `trace("x")`, `bits.lsh(1, input.job.gpus) > 1`,
	} {
		if _, err := policies.Load(files("a.rego", policy("a", "deny contains \"no\" if "+call))); err == nil || !strings.Contains(err.Error(), "undefined function") {
			t.Errorf("%s: %v; want it undefined", call, err)
		}
	}
}

// doubling makes a text of so many times two to the power of lines.
func doubling(lines int) string {
	var b strings.Builder
	b.WriteString("deny contains \"x\" if {\n\ts0 := sprintf(\"%v%999999d\", [input.job.name, 1])\n")
	last := "s0"
	for i := range lines {
		next := "s" + string(rune('a'+i))
		b.WriteString("\t" + next + " := concat(\"\", [" + last + ", " + last + "])\n")
		last = next
	}
	b.WriteString("\tcount(" + last + ") < 0\n}")
	return b.String()
}

// TestLoopsAndBombsEnd: also where the caller has all the time of the world, and each names itself.
func TestLoopsAndBombsEnd(t *testing.T) {
	const late, large, one = "it did not end in the time that policies have", "it took more than 256 MiB of memory", "the answer would have more than 32 MiB"
	const many = `deny contains "x" if {
	k := concat("", ["x" | some i in numbers.range(1, 1000000)])
	count([concat("", [k, sprintf("%d", [i])]) | some i in numbers.range(1, 1000)]) < 0
}`
	cases := map[string]struct {
		rules, want string // nothing: it is decided
	}{
		"a loop":                {endless, late},
		"a bomb of one text":    {doubling(25), one},
		"a bomb of many texts":  {many, large},
		"below the bomb's size": {doubling(3), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := load(t, files("a.rego", policy("a", tc.rules), "b.rego", policy("big_job", big)))
			if tc.want != late {
				policies.Patiently(t)
			}
			got := decide(t, o, input("enforce"))
			if undecided := strings.Join(got.Undecided, "; "); (undecided == "") != (tc.want == "") || !strings.HasSuffix(undecided, tc.want) {
				t.Errorf("undecided: %q; want %q", undecided, tc.want)
			}
			if len(got.Rulings) != 1 || got.Rulings[0].Policy != "big-job" {
				t.Errorf("%+v; want the other policy's denial", got.Rulings)
			}
		})
	}
}

// TestNoSchemaReadsAFile: of a package, of a rule, of shared rules; what is in the file is not looked at.
func TestNoSchemaReadsAFile(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(secret, []byte(`{"type": 7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	schema := fmt.Sprintf("# schemas:\n# - input: {$ref: \"file://%s\"}\n", filepath.ToSlash(secret))
	const rule = "deny contains {\"path\": \"\", \"msg\": \"no\"} if input.job.gpus == 1\n"
	for name, text := range map[string]string{
		"of a package":    metadata + schema + "package signalbox.a\n\n" + rule,
		"of a rule":       metadata + "package signalbox.a\n\n# METADATA\n" + schema + rule,
		"of shared rules": "# METADATA\n" + schema + "package signalbox.lib.a\n\nfew if input.job.gpus == 1\n",
	} {
		if _, err := policies.Load(files("a.rego", text)); err == nil || !strings.Contains(err.Error(), "METADATA brings a schema") || strings.Contains(err.Error(), "compile") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestExpressionsAreNested: one above the bound is refused, before a compiler that cannot be stopped has it.
func TestExpressionsAreNestedUpToABound(t *testing.T) {
	const most = 250
	nested := func(before, after string, n int) string {
		return "deny contains {\"path\": \"\", \"msg\": \"no\"} if " + strings.Repeat(before, n) + "1" + strings.Repeat(after, n) + " > 3\n"
	}
	for name, tc := range map[string]struct {
		rules string
		deep  bool
	}{
		"as deep as may be":   {nested("abs(", ")", most-4), false},
		"one deeper":          {nested("abs(", ")", most-3), true},
		"a sum of a thousand": {nested("1 + ", "", 1000), true},
		"lists of lists":      {nested("count([", "])", 10_000), true},
		"lists made of lists": {nested("count([x | x := ", "])", 10), false},
		"one more of them":    {nested("count([x | x := ", "])", 11), true},
		"each of each":        {"deny contains {\"path\": \"\", \"msg\": \"no\"} if " + strings.Repeat("every x in [1] { ", 1000) + "x == 1" + strings.Repeat(" }", 1000) + "\n", true},
		"else of else":        {"p := 0 if input.job.gpus == 0\n" + strings.Repeat(" else := 1 if input.job.gpus == 1\n", 1000) + nested("", "", 0), true},
	} {
		_, err := policies.Load(files("a.rego", policy("a", tc.rules)))
		if deep := err != nil && (strings.Contains(err.Error(), "deep in each other") || strings.Contains(err.Error(), "recursion depth")); deep != tc.deep || err != nil && !deep {
			t.Errorf("%s: %v", name, err)
		}
	}
}
