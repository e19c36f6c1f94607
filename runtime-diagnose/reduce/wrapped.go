package reduce

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// jsonFile opens a line of docker's json-file driver, as it lies on a node's disk
// (https://docs.docker.com/engine/logging/drivers/json-file/), and jsonSpaced one that a shipper of logs wrote anew.
const jsonFile, jsonSpaced = `{"log":"`, `{"log": "`

// wrapped is a line that docker, or a shipper of logs, put into an object.
type wrapped struct {
	Log     string `json:"log"`
	Message string `json:"message,omitempty"`
	Stream  string `json:"stream,omitempty"`
	Time    string `json:"time,omitempty"`
}

// wrappedIn reads such an object. Docker begins it with the text; shippers have other orders, and name the stream.
func wrappedIn(b []byte) (wrapped, bool) {
	if len(b) == 0 || b[0] != '{' {
		return wrapped{}, false
	}
	docker := bytes.HasPrefix(b, []byte(jsonFile)) || bytes.HasPrefix(b, []byte(jsonSpaced))
	if !docker && !bytes.Contains(b, []byte(`"stream"`)) {
		return wrapped{}, false
	}
	var w wrapped // on the heap, so not before it is needed
	if json.Unmarshal(b, &w) != nil {
		return wrapped{}, false
	}
	if w.Log == "" {
		w.Log = w.Message
	}
	return w, docker || w.Log != "" && (w.Stream == "stdout" || w.Stream == "stderr")
}

// unwrapped is the program's own line where docker wrapped it, and when docker took it; any other line stays.
func unwrapped(b []byte) (line []byte, at time.Time) {
	w, ok := wrappedIn(b)
	if !ok {
		return b, at
	}
	at, _ = time.Parse(time.RFC3339Nano, w.Time) // shippers have forms of their own: those say nothing
	return []byte(strings.TrimRight(w.Log, "\n")), at
}

// dockerPiece is how many bytes docker takes of a line at a time: of a longer one all pieces but the last have as many, and
// no line feed at their end (https://github.com/moby/moby/blob/v28.0.0/daemon/logger/copier.go, defaultBufSize).
const dockerPiece = 16 << 10

// join puts a line together that the container runtime wrote in pieces, to the last of which the program's line feed
// belongs. A piece behind which another stream goes on stays one. CRI marks them with P
// (https://github.com/kubernetes/design-proposals-archive/blob/main/node/kubelet-cri-logging.md).
func (s *scanner) join() {
	if text, ok := pieceOfCRI(s.text); ok {
		s.pieces.begins(s.text)
		flag := len(s.text) - len(text) - len("P ")
		s.pieces.begin[flag] = 'F' // it is not to be taken for a piece once more
		stream := string(s.text[flag-len("stderr ") : flag])
		for ok && s.nextOfFile() {
			n := collectedByCRI(s.text)
			if n == 0 || !bytes.HasSuffix(s.text[:n-len("P ")], []byte(stream)) {
				s.giveBack()
				break
			}
			s.pieced++
			_, ok = pieceOfCRI(s.text)
			s.pieces.add(s.text[n:])
		}
		s.text = s.whole(&s.pieces)
		return
	}
	if len(s.text) < dockerPiece || s.text[0] != '{' {
		return
	}
	w, ok := wrappedIn(s.text)
	if !ok || !w.piece() {
		return
	}
	s.pieces.begins([]byte(w.Log))
	for next := w; next.piece() && s.nextOfFile(); s.pieced++ {
		if next, ok = wrappedIn(s.text); !ok || next.Stream != w.Stream {
			s.giveBack()
			break
		}
		s.pieces.add([]byte(next.Log))
	}
	w.Log, w.Message = string(s.whole(&s.pieces)), ""
	s.text, _ = json.Marshal(w) // texts have a form
}

// giveBack has the line of the file that was read last come once more.
func (s *scanner) giveBack() {
	s.back, s.isBack = append(s.back[:0], s.text...), true
}

// piece says that a text goes on in the next line.
func (w wrapped) piece() bool { return len(w.Log) == dockerPiece && w.Log[dockerPiece-1] != '\n' }

// collectedByCRI is how long the prefix is that CRI puts before a line; 0: none does.
func collectedByCRI(b []byte) int {
	const shortest, longest = len("2006-01-02T15:04:05Z"), len("2006-01-02T15:04:05.999999999+00:00")
	if len(b) <= shortest || !isDigit(b[0]) || b[10] != 'T' {
		return 0
	}
	at := bytes.IndexByte(b[:min(len(b), longest+1)], ' ') + 1
	if at <= shortest {
		return 0
	}
	const stream = len("stderr ")
	if rest := b[at:]; len(rest) < stream+2 || !bytes.HasPrefix(rest, []byte("stdout ")) && !bytes.HasPrefix(rest, []byte("stderr ")) || rest[stream] != 'P' && rest[stream] != 'F' || rest[stream+1] != ' ' {
		return 0
	}
	return at + stream + len("P ")
}

// pieceOfCRI is the text of a piece of a line that goes on in the next one.
func pieceOfCRI(b []byte) (text []byte, ok bool) {
	n := collectedByCRI(b)
	if n == 0 || b[n-2] != 'P' {
		return nil, false
	}
	return b[n:], true
}
