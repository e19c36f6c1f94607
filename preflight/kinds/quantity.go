package kinds

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// anAmount says what a quantity looks like.
const anAmount = "an amount such as 8, 500m, 1.5 or 16Gi"

// mostDigits and mostExponent bound what is handed to resource.ParseQuantity: it reads
// 1e9999 as 0 and takes minutes for 1e-2147483648 (k8s.io/apimachinery v0.37.2).
const (
	mostDigits   = 64
	mostExponent = 30
)

func (r *reader) quantity(at *place, in any, to *resource.Quantity) bool {
	text, ok := amountText(in)
	if ok && (len(text) > mostDigits || hugeExponent(text)) {
		text = withoutZeros(text)
	}
	if !ok || len(text) > mostDigits || hugeExponent(text) {
		r.wrong(at.path(), in, anAmount)
		return false
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		r.wrong(at.path(), in, anAmount)
		return false
	}
	if q.Sign() < 0 { // no amount of a pod may be (k8s.io/kubernetes pkg/apis/core/validation, ValidateNonnegativeQuantity)
		r.wrong(at.path(), in, "an amount of 0 or more")
		return false
	}
	*to = q
	return true
}

// amountText is the amount as it is written; numbers need no quotes.
func amountText(in any) (string, bool) {
	switch v := in.(type) {
	case string:
		return strings.TrimSpace(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	default:
		n, ok := job.Whole(in)
		return strconv.FormatInt(n, 10), ok
	}
}

// withoutZeros is an amount without the zeros around its digits, which are part of the exponent: an author may write as
// many as there is room for, and the API server takes 8.000…0 for 8.
func withoutZeros(text string) string {
	at := strings.IndexFunc(strings.TrimLeft(text, "+-"), func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	sign := text[:len(text)-len(strings.TrimLeft(text, "+-"))]
	number, unit := text[len(sign):], ""
	if at >= 0 {
		number, unit = number[:at], number[at:]
	}
	exponent, suffix := 0, unit
	if strings.HasPrefix(unit, "e") || strings.HasPrefix(unit, "E") {
		if n, err := strconv.ParseInt(unit[1:], 10, 32); err == nil { // E alone is a suffix
			exponent, suffix = int(n), ""
		}
	}
	whole, fraction, _ := strings.Cut(number, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	exponent -= len(fraction)
	short := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(short)
	switch {
	case whole+fraction == "" || strings.Contains(fraction, "."): // no number
		return text
	case short == "":
		return "0" + suffix
	case suffix == "":
		return fmt.Sprintf("%s%se%d", sign, short, exponent)
	case exponent >= 0 && exponent <= mostDigits:
		return sign + short + strings.Repeat("0", exponent) + suffix
	case exponent < 0 && -exponent <= mostDigits:
		short = strings.Repeat("0", max(0, 1-exponent-len(short))) + short
		return sign + short[:len(short)+exponent] + "." + short[len(short)+exponent:] + suffix
	}
	return text
}

// hugeExponent says whether a decimal exponent is beyond what any amount needs.
func hugeExponent(text string) bool {
	i := strings.LastIndexAny(text, "eE")
	if i < 0 || i == len(text)-1 {
		return false
	}
	exponent, err := strconv.Atoi(text[i+1:])
	if err != nil {
		return strings.ContainsAny(text[i+1:], "0123456789") && strings.Trim(text[i+1:], "+-0123456789") == ""
	}
	return exponent > mostExponent || exponent < -mostExponent
}
