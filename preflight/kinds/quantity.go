package kinds

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
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
		n, ok := whole(in)
		return strconv.FormatInt(n, 10), ok
	}
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
