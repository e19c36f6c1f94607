package live

import "bytes"

// Which manager has written which field of an object is a third of what an API server sends of a job, and of its fields most: as
// maps it is larger than the job. It is taken out of the text before the rest is decoded.

// WithoutManagers is the text of an object without its managedFields, where it has any and they are understood. It is written
// over.
func WithoutManagers(object []byte) []byte {
	metadata, of, ok := managersIn(object)
	if !ok {
		return object
	}
	from, to := metadata.value+of.name, metadata.value+of.end
	switch { // one comma goes with it
	case object[to] == ',':
		to++
	case object[from-1] == ',':
		from--
	}
	return append(object[:from], object[to:]...)
}

// managersOf are the managedFields of an object, and when it was created; nil: it has none, or they are not understood.
func managersOf(object []byte) (managers []byte, created string) {
	metadata, of, ok := managersIn(object)
	if !ok {
		return nil, ""
	}
	within := object[metadata.value:metadata.end]
	return within[of.value:of.end], TextOf(within, "creationTimestamp")
}

// managersIn finds the metadata of an object, and in it the managedFields.
func managersIn(object []byte) (metadata, managers member, ok bool) {
	if metadata, ok = memberOf(object, "metadata"); !ok {
		return metadata, managers, false
	}
	managers, ok = memberOf(object[metadata.value:metadata.end], "managedFields")
	return metadata, managers, ok
}

// EntriesOf are the parts of a list; ok is false where it is none.
func EntriesOf(list []byte) (out [][]byte, ok bool) {
	if len(list) < 2 || list[0] != '[' {
		return nil, false
	}
	for at := 1; at < len(list); {
		end, ok := valueEnd(list, at)
		if !ok || end >= len(list) {
			return nil, false
		}
		out = append(out, list[at:end])
		switch list[end] {
		case ']':
			return out, end == len(list)-1
		case ',':
			at = end + 1
		default:
			return nil, false
		}
	}
	return nil, false
}

// TextOf is a member of an object that is a string without escapes; empty: there is none.
func TextOf(object []byte, name string) string {
	of, ok := memberOf(object, name)
	if !ok {
		return ""
	}
	text := object[of.value:of.end]
	if len(text) < 2 || text[0] != '"' || bytes.IndexByte(text, '\\') >= 0 {
		return ""
	}
	return string(text[1 : len(text)-1])
}

// member is where a name of an object begins, its value, and where that ends.
type member struct{ name, value, end int }

// memberOf finds a member in an object as programs write it: without room between its parts. ok is false where there is no
// such member, or the object is written otherwise.
func memberOf(object []byte, name string) (member, bool) {
	if len(object) < 2 || object[0] != '{' {
		return member{}, false
	}
	for at := 1; at < len(object) && object[at] == '"'; {
		colon, ok := valueEnd(object, at)
		if !ok || colon >= len(object) || object[colon] != ':' {
			return member{}, false
		}
		end, ok := valueEnd(object, colon+1)
		if !ok || end >= len(object) {
			return member{}, false
		}
		if string(object[at+1:colon-1]) == name {
			return member{at, colon + 1, end}, true
		}
		if object[end] != ',' {
			return member{}, false
		}
		at = end + 1
	}
	return member{}, false
}

// valueEnd is where a value ends that begins at a place.
func valueEnd(text []byte, at int) (int, bool) {
	depth := 0
	for at < len(text) {
		switch text[at] {
		case '"':
			end := stringEnd(text, at+1)
			if end < 0 {
				return 0, false
			}
			at = end
		case '{', '[':
			depth++
			at++
		case '}', ']':
			if depth == 0 { // it is that of what is around it
				return at, true
			}
			depth--
			at++
		case ',', ':':
			if depth == 0 {
				return at, true
			}
			at++
			continue
		case ' ', '\t', '\n', '\r':
			return 0, false
		default:
			at++
			continue
		}
		if depth == 0 {
			return at, true
		}
	}
	return at, depth == 0
}

// stringEnd is behind the quote that ends a string; -1: none does.
func stringEnd(text []byte, at int) int {
	for {
		quote := bytes.IndexByte(text[at:], '"')
		if quote < 0 {
			return -1
		}
		at += quote + 1
		slashes := 0
		for i := at - 2; i >= 0 && text[i] == '\\'; i-- {
			slashes++
		}
		if slashes%2 == 0 {
			return at
		}
	}
}
