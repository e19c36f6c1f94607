package words

import "strings"

// Stem is the beginning of an object's name, to which more can be put behind a dot and still be a name: a DNS subdomain
// has 253 characters, and each part of it ends in a letter or a digit
// (https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names).
func Stem(name string) string {
	const most = 200
	return strings.TrimRight(name[:min(len(name), most)], "-.")
}
