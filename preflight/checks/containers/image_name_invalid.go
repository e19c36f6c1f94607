package containers

import (
	"regexp"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var imageNameInvalid = &check.Check{
	Name:     "image-name-invalid",
	Title:    "a container's image has a name that cannot be pulled",
	Remedy:   "Write registry/path:tag, the path in lower case.",
	Severity: finding.Error, Since: "0.1",
	Run: func(p *check.Pass) {
		for r, c := range p.Job.EachContainer() {
			if job.Templated(c.Image) || c.Image == "" {
				continue // unreadable-field, container-image-missing
			}
			if wrong := wrongInImage(c.Image); wrong != "" {
				p.Reportf(r.Pod.At(c.Rel.Child("image")), "image %q is no valid name: it has %s", c.Image, wrong)
			}
		}
	},
}

// The grammar of image names: github.com/distribution/reference, reference.go and normalize.go.
var (
	imageHost   = regexp.MustCompile(`^([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(\.([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*(:[0-9]+)?$|^\[[a-fA-F0-9:]+\](:[0-9]+)?$`)
	imagePart   = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*$`)
	imageTag    = regexp.MustCompile(`^\w[\w.-]{0,127}$`)
	imageDigest = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$`)
)

// wrongInImage is the part of an image's name that breaks the grammar; empty: none does.
func wrongInImage(image string) string {
	name, digest, pinned := strings.Cut(image, "@")
	if pinned && !imageDigest.MatchString(digest) {
		return "the digest " + digest
	}
	if slash, colon := strings.LastIndexByte(name, '/'), strings.LastIndexByte(name, ':'); colon > slash {
		if tag := name[colon+1:]; !imageTag.MatchString(tag) {
			return "the tag \"" + tag + "\""
		}
		name = name[:colon]
	}
	// A first part with a dot, a colon or a capital is a registry, as is localhost.
	if host, rest, ok := strings.Cut(name, "/"); ok && (strings.ContainsAny(host, ".:") || host == "localhost" || strings.ToLower(host) != host) {
		if !imageHost.MatchString(host) {
			return "the registry \"" + host + "\""
		}
		name = rest
	}
	for part := range strings.SplitSeq(name, "/") {
		if !imagePart.MatchString(part) {
			if strings.ToLower(part) != part && imagePart.MatchString(strings.ToLower(part)) {
				return "capitals in its path"
			}
			return "the part \"" + part + "\""
		}
	}
	return ""
}
