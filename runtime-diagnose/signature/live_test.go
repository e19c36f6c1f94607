package signature_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

func TestOwnSignaturesJoinTheCatalogOrNothingDoes(t *testing.T) {
	base := builtin(t)
	file := func(id, more string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(strings.Replace(own, "id: own-failure", "id: "+id, 1) + more)}
	}
	cases := map[string]struct {
		files fstest.MapFS
		err   string
	}{
		"one, in a folder as in a ConfigMap": {fstest.MapFS{"team/own-failure.yaml": file("own-failure", "")}, ""},
		"it may hide one of the program's":   {fstest.MapFS{"own-failure.yaml": file("own-failure", "hides: [disk-full]\n")}, ""},
		"or a rule":                          {fstest.MapFS{"own-failure.yaml": file("own-failure", "hides: [exit-1]\n")}, ""},
		"nothing at all":                     {fstest.MapFS{}, ""},
		"one of two is broken":               {fstest.MapFS{"own-failure.yaml": file("own-failure", ""), "b.yaml": file("b", "colour: red\n")}, `unknown field "colour"`},
		"a name that is taken":               {fstest.MapFS{"disk-full.yaml": file("disk-full", "")}, `signature "disk-full" is there twice`},
		"a name that is not the file's":      {fstest.MapFS{"x.yaml": file("own-failure", "")}, "a file is named after its id"},
		"it hides nobody":                    {fstest.MapFS{"own-failure.yaml": file("own-failure", "hides: [disk-ful]\n")}, `hides "disk-ful", which there is not`},
		"its pattern has no text":            {fstest.MapFS{"own-failure.yaml": {Data: []byte(strings.Replace(own, "boom (?P<", "bo+m (?P<", 1))}}, "no text of 4 bytes or more"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := base.With([]string{"exit-1"}, tc.files)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("With: %v; want %q", err, tc.err)
			}
			if err == nil && len(got.All()) != len(base.All())+len(tc.files) {
				t.Errorf("%d signatures; want %d and the %d given", len(got.All()), len(base.All()), len(tc.files))
			}
		})
	}
}

func TestALiveCatalogIsReplacedAsAWhole(t *testing.T) {
	base := builtin(t)
	live := signature.NewLive(base)
	more, err := base.With(nil, fstest.MapFS{"own-failure.yaml": {Data: []byte(own)}})
	if err != nil {
		t.Fatal(err)
	}
	before := live.Catalog()
	live.Swap(more)
	if before.ByID("own-failure") != nil || live.Catalog().ByID("own-failure") == nil {
		t.Error("who read before keeps what there was; who reads after has the new one")
	}
}
