package live

import "encoding/binary"

// fields are fields of a protobuf message by their numbers: nil is the field itself, anything else fields of the message
// in it.
type fields map[uint64]fields

// unread is what is not looked at of a pod in a list; it is most of a pod, and most of what decoding one costs
// (k8s.io/api v0.37.2, core/v1/generated.proto: Pod, PodSpec, Container; k8s.io/apimachinery, meta/v1/generated.proto:
// ObjectMeta).
var (
	unread = fields{
		1: {17: nil},                                          // managedFields
		2: {2: unreadContainer, 20: unreadContainer, 34: nil}, // containers, initContainers; ephemeralContainers ask for nothing
	}
	unreadContainer = fields{
		2: nil, 3: nil, 4: nil, 5: nil, // image, command, args, workingDir
		7: nil, 19: nil, 9: nil, 21: nil, // env, envFrom, volumeMounts, volumeDevices
		10: nil, 11: nil, 22: nil, 12: nil, // probes, lifecycle
		13: nil, 20: nil, 14: nil, 15: nil, // terminationMessagePath, its policy, imagePullPolicy, securityContext
	}
)

// The wire types of a field (https://protobuf.dev/programming-guides/encoding/#structure).
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireFixed32 = 5
)

// without is a message without some fields, written over it. What is not understood stays as it is: the decoder
// says why.
func without(message []byte, some fields) []byte {
	out := message[:0]
	for rest := message; len(rest) > 0; {
		tag, head := binary.Uvarint(rest)
		if head <= 0 {
			return append(out, rest...)
		}
		end := head
		switch tag & 7 {
		case wireVarint:
			_, n := binary.Uvarint(rest[head:])
			if n <= 0 {
				return append(out, rest...)
			}
			end += n
		case wireFixed64:
			end += 8
		case wireFixed32:
			end += 4
		case lengthBound:
			size, n := binary.Uvarint(rest[head:])
			if n <= 0 || size > uint64(len(rest)-head-n) {
				return append(out, rest...)
			}
			end += n + int(size)
			inner, there := some[tag>>3]
			if there && inner == nil {
				rest = rest[end:]
				continue
			}
			if there {
				of := without(rest[head+n:end], inner) // the same bytes, or fewer: its length is written before it
				out = binary.AppendUvarint(binary.AppendUvarint(out, tag), uint64(len(of)))
				out, rest = append(out, of...), rest[end:]
				continue
			}
		default:
			return append(out, rest...)
		}
		if end > len(rest) {
			return append(out, rest...)
		}
		out, rest = append(out, rest[:end]...), rest[end:]
	}
	return out
}
