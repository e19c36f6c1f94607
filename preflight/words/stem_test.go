package words

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

func TestAStemIsTheBeginningOfAName(t *testing.T) {
	long := strings.Repeat("a", 199)
	for name, want := range map[string]string{
		"train": "train", long + "b": long + "b", long + "bc": long + "b", long + "-c": long, strings.Repeat("a", 198) + ".-c": strings.Repeat("a", 198),
	} {
		got := Stem(name)
		if got != want {
			t.Errorf("of %d characters %q; want %q", len(name), got, want)
		}
		if wrong := validation.IsDNS1123Subdomain(got + ".0123456789abcdef"); len(wrong) > 0 {
			t.Errorf("%q: %v", got, wrong)
		}
	}
}
