package cluster

import (
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// deviceAttribute is the value of an attribute of a device, of which one field is set
// (https://pkg.go.dev/k8s.io/api/resource/v1#DeviceAttribute).
type deviceAttribute struct {
	Int    *int64  `json:"int"`
	Bool   *bool   `json:"bool"`
	String *string `json:"string"`
}

// answer is what is known of a device and a selector.
type answer int8

const (
	no answer = iota
	perhaps
	yes
)

// deviceSelector is an expression in CEL, as far as it is read: conditions that must all hold.
//
// Three forms of conditions are read, a driver that equals a literal, an attribute that equals one or differs from it, and
// a capacity that is compared with one: these have one meaning. What else stands there may hold or not; beside a driver that is another it does not matter, for
// CEL's && is false where either side is, whatever the other
// (https://github.com/google/cel-spec/blob/master/doc/langdef.md#logical-operators).
type deviceSelector struct {
	conditions []condition
	more       bool // there are others
}

// condition is that the driver, or an attribute of the device, equals a literal; that it differs from it; how a capacity
// compares with one.
type condition struct {
	differs           bool
	domain, attribute string // both empty: the driver
	name              string // domain and attribute, as drivers write it
	capacity          bool   // it is one, and no attribute
	amount            resource.Quantity
	is                func(compared int) bool // of the capacity with the amount
	text              *string
	number            *int64
	truth             *bool
}

var (
	driverIs    = regexp.MustCompile(`^device\.driver\s*==\s*("[^"'\\]*"|'[^"'\\]*')$`)
	attributeIs = regexp.MustCompile(`^device\.attributes\[("[^"'\\]*"|'[^"'\\]*')\]\.([A-Za-z_][A-Za-z0-9_]*)\s*(==|!=)\s*("[^"'\\]*"|'[^"'\\]*'|true|false|-?[0-9]{1,18})$`)
	capacityIs  = regexp.MustCompile(`^device\.capacity\[("[^"'\\]*"|'[^"'\\]*')\]\.([A-Za-z_][A-Za-z0-9_]*)\.(compareTo|isGreaterThan|isLessThan)\(quantity\(("[^"'\\]*"|'[^"'\\]*')\)\)(?:\s*(==|!=|<=|>=|<|>)\s*0)?$`)
)

// comparisons are what is said of the outcome of compareTo, and the two functions that say as much
// (https://pkg.go.dev/k8s.io/apiserver/pkg/cel/library#Quantity).
var comparisons = map[string]func(compared int) bool{
	"compareTo ==": func(c int) bool { return c == 0 }, "compareTo !=": func(c int) bool { return c != 0 },
	"compareTo <": func(c int) bool { return c < 0 }, "compareTo <=": func(c int) bool { return c <= 0 },
	"compareTo >": func(c int) bool { return c > 0 }, "compareTo >=": func(c int) bool { return c >= 0 },
	"isGreaterThan ": func(c int) bool { return c > 0 }, "isLessThan ": func(c int) bool { return c < 0 },
}

// readSelector reads an expression; what is not read makes it hold perhaps.
func readSelector(expression string) (out deviceSelector) {
	parts := strings.Split(expression, "&&")
	if strings.Contains(expression, "||") || strings.Contains(expression, "?") || strings.Contains(expression, "//") {
		return deviceSelector{more: true}
	}
	for _, part := range parts {
		if !balanced(part) { // the && stands in brackets or in a text
			return deviceSelector{more: true}
		}
		part = strings.TrimSpace(part)
		unquoted := func(text string) *string { text = text[1 : len(text)-1]; return &text }
		if m := driverIs.FindStringSubmatch(part); m != nil {
			out.conditions = append(out.conditions, condition{text: unquoted(m[1])})
			continue
		}
		if m := capacityIs.FindStringSubmatch(part); m != nil {
			amount, err := resource.ParseQuantity(*unquoted(m[4]))
			if is := comparisons[m[3]+" "+m[5]]; err == nil && is != nil {
				c := condition{domain: *unquoted(m[1]), attribute: m[2], capacity: true, amount: amount, is: is}
				c.name = c.domain + "/" + c.attribute
				out.conditions = append(out.conditions, c)
				continue
			}
		}
		m := attributeIs.FindStringSubmatch(part)
		if m == nil {
			out.more = true
			continue
		}
		c := condition{domain: *unquoted(m[1]), attribute: m[2], differs: m[3] == "!="}
		c.name = c.domain + "/" + c.attribute
		switch n, err := strconv.ParseInt(m[4], 10, 64); {
		case m[4] == "true", m[4] == "false":
			truth := m[4] == "true"
			c.truth = &truth
		case err == nil:
			c.number = &n
		default:
			c.text = unquoted(m[4])
		}
		out.conditions = append(out.conditions, c)
	}
	return out
}

// balanced says that every bracket and every quote of a text has its other one in it.
func balanced(text string) bool {
	depth := 0
	for _, r := range text {
		switch r {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return false
			}
		case '\\':
			return false
		}
	}
	return depth == 0 && strings.Count(text, `"`)%2 == 0 && strings.Count(text, "'")%2 == 0
}

// matches says whether a device of a driver is selected.
func (s *deviceSelector) matches(driver string, d *publishedDevice) answer {
	out := yes
	if s.more {
		out = perhaps
	}
	for i := range s.conditions {
		out = min(out, s.conditions[i].holds(driver, d))
	}
	return out
}

// holds is perhaps where the attribute is not there or of another type: then CEL reports an error, and the
// scheduler allocates nothing.
func (c *condition) holds(driver string, d *publishedDevice) answer {
	if c.attribute == "" {
		return answerOf(driver == *c.text)
	}
	a, ok := c.of(driver, d)
	switch {
	case !ok:
		return perhaps
	case c.capacity:
		has, err := resource.ParseQuantity(*a.String)
		if err != nil {
			return perhaps
		}
		return answerOf(c.is(has.Cmp(c.amount)))
	case c.text != nil && a.String != nil:
		return answerOf((*c.text == *a.String) != c.differs)
	case c.number != nil && a.Int != nil:
		return answerOf((*c.number == *a.Int) != c.differs)
	case c.truth != nil && a.Bool != nil:
		return answerOf((*c.truth == *a.Bool) != c.differs)
	}
	return perhaps
}

// of is the attribute of a device, or its capacity, as text.
func (c *condition) of(driver string, d *publishedDevice) (deviceAttribute, bool) {
	if c.capacity {
		has, ok := d.Capacity[c.name]
		if !ok && c.domain == driver { // written without its domain
			has, ok = d.Capacity[c.attribute]
		}
		return deviceAttribute{String: &has.Value}, ok
	}
	a, ok := d.Attributes[c.name]
	if !ok && c.domain == driver { // written without its domain
		a, ok = d.Attributes[c.attribute]
	}
	return a, ok
}

func answerOf(is bool) answer {
	if is {
		return yes
	}
	return no
}
