//go:build unix

package shell

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestSaveFileLeavesAPipeWhereItIs(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // both ends, so that neither waits for the other
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := SaveFile(pipe, hello); err != nil {
		t.Fatal(err)
	}
	at, err := os.Lstat(pipe)
	if err != nil || at.Mode()&os.ModeNamedPipe == 0 {
		t.Fatalf("the pipe is %v now (%v)", at.Mode(), err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(reader, got); err != nil || string(got) != "hello" {
		t.Errorf("the pipe holds %q, %v; want hello", got, err)
	}
}

func TestSaveFileReplacesTheFileBehindALink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := SaveFile(link, hello); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); string(got) != "hello" {
		t.Errorf("the file holds %q, %v; want hello", got, err)
	}
	if to, err := os.Readlink(link); to != file {
		t.Errorf("the link leads to %q, %v; want %q", to, err, file)
	}
}

func TestSaveFileSaysWhatIsInTheWay(t *testing.T) {
	dir := t.TempDir()
	for to, want := range map[string]string{
		dir:                                dir + ": is a folder; expected the name of a file to write",
		filepath.Join(dir, "none", "file"): filepath.Join(dir, "none", "file") + ": cannot be written: no such file or directory; expected a file in a folder that is there and may be written to",
	} {
		if err := Own(SaveFile(to, hello)); err == nil || err.Error() != want || CodeOf(err) != ExitUsage {
			t.Errorf("saveFile: %v; want %s", err, want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 || err != nil {
		t.Errorf("%v is left, %v", left, err)
	}
}

func hello(w io.Writer) error {
	_, err := io.WriteString(w, "hello")
	return err
}
