package signature_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

func valid() *signature.Signature {
	return &signature.Signature{
		ID: "made-up", Title: "t", Since: "0.1", Category: "gpu-oom", Role: signature.Root, Kinds: []evidence.Kind{evidence.Log},
		Pattern: "boom", Domain: signature.User, Retry: signature.Useless,
		Proves: "p", DoesNotProve: "d", Remedy: "r",
	}
}

func TestValidateNamesWhatIsWrong(t *testing.T) {
	cases := map[string]struct {
		change func(*signature.Signature)
		want   string
	}{
		"nothing":                      {func(*signature.Signature) {}, ""},
		"id":                           {func(s *signature.Signature) { s.ID = "Made Up" }, "id must be"},
		"category":                     {func(s *signature.Signature) { s.Category = "bad-luck" }, `category "bad-luck"`},
		"healthy is no cause":          {func(s *signature.Signature) { s.Category = "healthy" }, `category "healthy"`},
		"role":                         {func(s *signature.Signature) { s.Role = "boss" }, `role "boss"`},
		"kind":                         {func(s *signature.Signature) { s.Kinds = []evidence.Kind{"rumour"} }, `kind "rumour"`},
		"no text in the pattern":       {func(s *signature.Signature) { s.Pattern = `bo\d+` }, "no text of 4 bytes or more"},
		"pattern":                      {func(s *signature.Signature) { s.Pattern = "(" }, "pattern:"},
		"a pattern as long as may be":  {func(s *signature.Signature) { s.Pattern = strings.Repeat("boom", 2<<10) }, ""},
		"one byte more":                {func(s *signature.Signature) { s.Pattern = strings.Repeat("boom", 2<<10) + "!" }, "pattern has 8193 bytes; at most 8192 are allowed"},
		"a repetition that is allowed": {func(s *signature.Signature) { s.Pattern = "boom" + strings.Repeat(`\d{999}`, 10) }, ""},
		"one that is not":              {func(s *signature.Signature) { s.Pattern = "boom" + strings.Repeat(`\d{1000}`, 10) }, "pattern makes an expression of 10006 instructions; at most 10000 are allowed"},
		"matches everything":           {func(s *signature.Signature) { s.Pattern = "(?:boom)?" }, "matches the empty line"},
		"no doubt":                     {func(s *signature.Signature) { s.DoesNotProve = " " }, "doesNotProve is empty"},
		"a root needs a cure":          {func(s *signature.Signature) { s.Remedy = "" }, "remedy is empty"},
		"context needs no one":         {func(s *signature.Signature) { s.Remedy, s.Role = "", signature.Context }, ""},
		"says":                         {func(s *signature.Signature) { s.Says = "gossip" }, `says "gossip" is not of-itself`},
		"depth":                        {func(s *signature.Signature) { s.Depth = 9 }, "depth is 9"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := valid()
			tc.change(s)
			err := s.Validate()
			if (err == nil) != (tc.want == "") || (err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("Validate: %v, want %q", err, tc.want)
			}
		})
	}
}

func TestAMisspeltFieldIsAnError(t *testing.T) {
	if _, err := signature.Decode([]byte("id: x\nhide: [y]\n")); err == nil || !strings.Contains(err.Error(), "hide") {
		t.Errorf("Decode: %v, want an error that names the field", err)
	}
}

const own = `id: own-failure
title: our own program says boom
since: "1"
category: python-exception-user-code
role: root
kinds: [log]
pattern: 'boom (?P<what2>\w+)'
domain: user
retry: useless
proves: boom
doesNotProve: why
remedy: stop
`

func TestUsersAddSignaturesOfTheirOwn(t *testing.T) {
	c, err := signature.Load(fstest.MapFS{"own-failure.yaml": {Data: []byte(own)}})
	if err != nil {
		t.Fatal(err)
	}
	got := c.Match("it says BOOM; boom today", evidence.Log)
	if len(got) != 1 || got[0].Facts["what"] != "today" {
		t.Errorf("matches %v, want own-failure with what=today", got)
	}
	if c.Match("boom today", evidence.Event) != nil {
		t.Error("a signature for logs matched an event")
	}
}

func TestFilesAreNamedAfterTheirSignature(t *testing.T) {
	_, err := signature.Load(fstest.MapFS{"other.yaml": {Data: []byte(own)}})
	if err == nil || !strings.Contains(err.Error(), "named after its id") {
		t.Errorf("Load: %v", err)
	}
	_, err = signature.Load(fstest.MapFS{"own-failure.yaml": {Data: []byte(own)}}, fstest.MapFS{"own-failure.yaml": {Data: []byte(own)}})
	if err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("Load of one signature twice: %v", err)
	}
}

// The files that ship are not proven again at every start: what the finder cannot hold is named all the same.
func TestAPatternWithoutATextIsNamedAndNeverPanics(t *testing.T) {
	for pattern, want := range map[string]string{`oo+m \d`: `signature "own-failure": pattern: no text of 4 bytes or more`, "boom|": "no text", "boom": ""} {
		_, err := signature.Shipped(fstest.MapFS{"own-failure.yaml": {Data: []byte(strings.Replace(own, `boom (?P<what2>\w+)`, pattern, 1))}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("pattern %q: %v, want %q", pattern, err, want)
		}
	}
}

// What the categories that ship say of other members, a signature of somebody's own can say too, whatever its category.
func TestASignatureOfOnesOwnSaysOfOthersWhatOursDo(t *testing.T) {
	for name, tc := range map[string]struct {
		add     string
		want    signature.Says
		lasting bool
	}{
		"nothing":      {"", signature.OfItself, false},
		"waited":       {"says: waited\n", signature.Waited, false},
		"peer lost":    {"says: peer-lost\n", signature.PeerLost, false},
		"told to stop": {"says: told-to-stop\n", signature.ToldToStop, false},
		"lasting":      {"lasting: true\n", signature.OfItself, true},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := signature.Load(fstest.MapFS{"own-failure.yaml": {Data: []byte(own + tc.add)}})
			if err != nil {
				t.Fatal(err)
			}
			s := c.ByID("own-failure")
			if s.SaysOf() != tc.want || s.Lasts() != tc.lasting {
				t.Errorf("says %q, lasts %v; want %q, %v", s.SaysOf(), s.Lasts(), tc.want, tc.lasting)
			}
		})
	}
	byCategory := map[string]signature.Says{"rendezvous-timeout": signature.Waited, "nccl-timeout": signature.Waited, "hang-no-progress": signature.Waited, "nccl-init-network": signature.PeerLost, "infiniband-fault": signature.PeerLost}
	for _, c := range signature.Categories() {
		s := &signature.Signature{Category: c.Slug}
		want := byCategory[c.Slug]
		if c.Slug == "sigterm-preempted" {
			want = signature.ToldToStop
		}
		if want == "" {
			want = signature.OfItself
		}
		if got := s.SaysOf(); got != want {
			t.Errorf("%s says %q, want %q", c.Slug, got, want)
		}
		if lasts := c.Slug == "nan-loss" || c.Slug == "no-convergence"; s.Lasts() != lasts {
			t.Errorf("%s lasts: %v", c.Slug, s.Lasts())
		}
	}
	if (&signature.Signature{Category: "sigterm-preempted", Depth: signature.Precise}).SaysOf() != signature.OfItself {
		t.Error("a signature that knows why it was stopped is no symptom")
	}
}

// Thousands of texts that signatures of one's own look for hide none of those that the program came with.
func TestManyTextsOfOnesOwnHideNoOther(t *testing.T) {
	builtin, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	ours := fstest.MapFS{}
	const files, each = 60, 400 // four places of each text are looked for: more than 2^16
	for f := range files {
		var words []string
		for i := range each {
			words = append(words, fmt.Sprintf("w%05d-of-ours", f*each+i))
		}
		id := fmt.Sprintf("own-%d", f)
		ours["own/"+id+".yaml"] = &fstest.MapFile{Data: []byte(strings.NewReplacer("own-failure", id, `boom (?P<what2>\w+)`, strings.Join(words, "|")).Replace(own))}
	}
	all, err := builtin.With(nil, ours)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "w00007-of-ours", "w23999-of-ours",
		"ModuleNotFoundError: No module named 'flash_attn'", "OSError: [Errno 28] No space left on device",
	} {
		if got := all.Match(line); len(got) == 0 {
			t.Errorf("nothing is found in %q", line)
		}
	}
}
