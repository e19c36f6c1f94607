package reduce

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a container runtime writes in pieces is one line, with the number of its last piece.
func TestPiecesOfALineAreJoined(t *testing.T) {
	const at = "2026-03-01T12:00:01.5Z "
	docker := func(stream, text string) string {
		b, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"log":%s,"stream":%q,"time":"2026-03-01T12:00:01.5Z"}`, b, stream) + "\n"
	}
	x := strings.Repeat("x", dockerPiece)
	cases := map[string]struct {
		log  string
		want []string // number and text
	}{
		"CRI, two pieces":                    {at + "stderr P Runtime\n" + at + "stderr F Error: a\n" + at + "stderr F b\n", []string{"2 RuntimeError: a", "3 b"}},
		"CRI, many pieces":                   {strings.Repeat(at+"stdout P ab\n", 100) + at + "stdout F \n", []string{"101 " + strings.Repeat("ab", 100)}},
		"CRI, the last piece is lost":        {at + "stderr P Runtime\n", []string{"1 Runtime"}},
		"CRI, another stream writes between": {at + "stderr P Runtime\n" + at + "stdout F step 1\n" + at + "stderr F Error: a\n", []string{"1 Runtime", "2 step 1", "3 Error: a"}},
		"CRI, and a line of nobody":          {at + "stderr P Runtime\n" + "rotated\n" + at + "stderr F Error: a\n", []string{"1 Runtime", "2 rotated", "3 Error: a"}},
		"CRI, longer than is read":           {strings.Repeat(at+"stdout P "+x+"\n", 9) + at + "stdout F Error: a\n", []string{"10 " + strings.Repeat("x", LongestLine-LongestEnd-len(at+"stdout P ")) + gap + "a"}},
		"docker, two pieces":                 {docker("stderr", x) + docker("stderr", " Error: a\n") + docker("stderr", "b\n"), []string{"2 " + x + " Error: a", "3 b"}},
		"docker, a line of as many bytes":    {docker("stderr", x[1:]+"\n") + docker("stderr", "b\n"), []string{"1 " + x[1:], "2 b"}},
		"docker, another stream between":     {docker("stderr", x) + docker("stdout", "step 1\n") + docker("stderr", "b\n"), []string{"1 " + x, "2 step 1", "3 b"}},
		"a shipper that drops line feeds":    {`{"log":"a","stream":"stderr"}` + "\n" + `{"stream":"stderr","log":"b"}` + "\n" + `{"kubernetes":{},"stream":"stdout","message":"c"}` + "\n" + `{"stream":"video","message":"d"}` + "\n", []string{"1 a", "2 b", "3 c", `4 {"stream":"video","message":"d"}`}},
	}
	for name, tc := range cases {
		for _, ahead := range []int64{0, 1} {
			t.Run(fmt.Sprintf("%s, ahead from %d", name, ahead), func(t *testing.T) {
				var got []string
				o := Options{Watch: func(l *Line) { got = append(got, fmt.Sprintf("%d %s", l.Number, l.Body())) }, AheadFrom: ahead}
				if ahead > 0 {
					o.Search, o.Found = func(found []int32, _ string) []int32 { return found }, func(string, []int32) bool { return false }
				}
				if _, err := Read(strings.NewReader(tc.log), o); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("lines (-want +got):\n%s", diff)
				}
			})
		}
	}
}
