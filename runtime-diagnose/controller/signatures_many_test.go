package controller

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

const numbered = `id: own-#
title: our own program says boom
since: "1"
category: python-exception-user-code
role: root
kinds: [log]
pattern: boom#
domain: user
retry: useless
proves: boom
doesNotProve: why
remedy: stop
`

// Broken signatures among many cost about what good ones do: a catalog is made a few times, not once
// for each file.
func TestABrokenSignatureAmongManyCostsLittle(t *testing.T) {
	base, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	const files = 60
	cases := map[string]struct {
		spoil func(string) string
		most  int
	}{
		"none is":                       {nil, 1},
		"one cannot be read":            {func(s string) string { return strings.Replace(s, "role: root", "role: boss", 1) }, 3},
		"one names what there is not":   {func(s string) string { return s + "hides: [there-is-not]\n" }, 30},
		"one is called like another is": {func(s string) string { return strings.Replace(s, "id: own-7", "id: own-8", 1) }, 30},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			archive := &txtar.Archive{}
			for i := range files {
				text := strings.ReplaceAll(numbered, "#", fmt.Sprint(i))
				if i == 7 && tc.spoil != nil {
					text = tc.spoil(text)
				}
				archive.Files = append(archive.Files, txtar.File{Name: fmt.Sprintf("team/own-%d.yaml", i), Data: []byte(text)})
			}
			fsys, err := txtar.FS(archive)
			if err != nil {
				t.Fatal(err)
			}
			f := &signatureFiles{base: base, live: signature.NewLive(base)}
			_, err = f.load(fsys)
			want := len(base.All()) + files
			if tc.spoil != nil {
				want--
				if err == nil || !strings.Contains(err.Error(), "own-7") {
					t.Errorf("%v; want to be told of own-7", err)
				}
			}
			if n := len(f.live.Catalog().All()); n != want {
				t.Errorf("%d signatures are in force; want %d", n, want)
			}
			if f.made > tc.most {
				t.Errorf("%d catalogs were made; want at most %d", f.made, tc.most)
			}
		})
	}
}

// A mistake in all files at once, which were good before, costs no more: they stay as they were.
func TestManySignaturesThatBreakTogetherCostLittle(t *testing.T) {
	base, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	f := &signatureFiles{base: base, live: signature.NewLive(base)}
	const files = 60
	for _, role := range []string{"role: root", "role: boss"} {
		archive := &txtar.Archive{}
		for i := range files {
			text := strings.Replace(strings.ReplaceAll(numbered, "#", fmt.Sprint(i)), "role: root", role, 1)
			archive.Files = append(archive.Files, txtar.File{Name: fmt.Sprintf("team/own-%d.yaml", i), Data: []byte(text)})
		}
		fsys, err := txtar.FS(archive)
		if err != nil {
			t.Fatal(err)
		}
		f.made = 0
		if _, err := f.load(fsys); (err != nil) != (role == "role: boss") {
			t.Errorf("%s: %v", role, err)
		}
	}
	if n := len(f.live.Catalog().All()); n != len(base.All())+files {
		t.Errorf("%d signatures are in force; want %d", n, len(base.All())+files)
	}
	if f.made > 6 {
		t.Errorf("%d catalogs were made; want six at most", f.made)
	}
}
