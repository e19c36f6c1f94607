package screenshot

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestARunOfOneStyleStandsWhereTheTerminalHasIt(t *testing.T) {
	got := SVG("\x1b[1mjob\x1b[22m: \x1b[33mfull\x1b[0m <b>\n  ◆◆ wide 显存\n", 20, `a "job"`)
	for _, want := range []string{
		`aria-label="a &#34;job&#34;"`,
		`x="16.0" y="30" textLength="25.2" lengthAdjust="spacingAndGlyphs" xml:space="preserve" class="s1">job<`,
		`x="58.0" y="30" textLength="33.6" lengthAdjust="spacingAndGlyphs" xml:space="preserve" class="s33">full<`,
		`xml:space="preserve"> &lt;b&gt;<`,
		`x="16.0" y="49" textLength="117.6"`, // fourteen cells: two characters are wide
		`width="200" height="70"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(got)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
