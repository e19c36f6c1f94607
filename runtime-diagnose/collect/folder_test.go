package collect

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// What lies beside the logs of a folder and is about them, a label or settings, is no log; objects are objects by
// whatever name.
func TestAFolderMayHoldYAMLThatIsNoLog(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"log.txt":      "step 1 loss 2\n",
		"label.yaml":   "category: disk-full\nkey_line: 'OSError: [Errno 28] No space left on device'\n",
		"settings.yml": "- a\n- b\n",
		"empty.yaml":   "",
		"mine.yaml":    "apiVersion: v1\nkind: Pod\nmetadata: {name: train-0}\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	large, err := os.Create(filepath.Join(folder, "large.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(large.Truncate(maxObjects+1), large.Close()); err != nil {
		t.Fatal(err)
	}
	c, bundle, err := Folder(t.Context(), folder, asItIs)
	if err != nil || bundle {
		t.Fatal(err, bundle)
	}
	if len(c.Logs) != 1 || !strings.HasSuffix(c.Logs[0].Source.File, "log.txt") {
		t.Errorf("%d logs: %v", len(c.Logs), c.Logs)
	}
	if len(c.Pods) != 1 {
		t.Errorf("%d pods, want that of mine.yaml", len(c.Pods))
	}
	said := strings.Join(c.Missing, "\n")
	for _, part := range []string{"label.yaml is YAML without", "settings.yml is YAML without", "large.yaml has more than"} {
		if !strings.Contains(said, part) {
			t.Errorf("missing does not say %q: %s", part, said)
		}
	}
	if strings.Contains(said, "empty") || strings.Contains(said, "mine") {
		t.Error(said)
	}
}

// A .zip is read as a folder is, whatever made it and however deep its files lie.
func TestAZipIsAFolder(t *testing.T) {
	c, bundle, err := Folder(t.Context(), zipped(t,
		zipFile{name: "run/", flags: 0},
		zipFile{name: "run/logs/rank-3.log", text: "step 1\nstep 2\n"},
		zipFile{name: "run/mine.yaml", text: "apiVersion: v1\nkind: Pod\nmetadata: {name: train-0}\n"},
	), asItIs)
	if err != nil || bundle {
		t.Fatal(err, bundle)
	}
	if len(c.Logs) != 1 || !strings.HasSuffix(c.Logs[0].Source.File, "logs/rank-3.log") || len(c.Pods) != 1 {
		t.Fatalf("logs %v, %d pods", c.Logs, len(c.Pods))
	}
	for range 2 { // a log may be opened again
		in, err := c.Logs[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err := errors.Join(err, in.Close()); err != nil || string(text) != "step 1\nstep 2\n" {
			t.Errorf("%q, %v", text, err)
		}
	}
}

func TestAZipThatCannotBeReadIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("large archives, one after another")
	}
	broken := filepath.Join(t.TempDir(), "broken.zip")
	if err := os.WriteFile(broken, []byte("PK\x03\x04 and no more"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, name := range map[string]string{
		"read the zip archive":                      broken,
		"secret.log is encrypted":                   zipped(t, zipFile{name: "secret.log", text: "x", flags: 1}),
		"nodes.yaml has more than ":                 zipped(t, zipFile{name: "nodes.yaml", text: strings.Repeat("#", maxObjects+1)}),
		fmt.Sprintf("more than %d files", maxFiles): zipped(t, manyFiles(maxFiles+1)...),
	} {
		if _, _, err := Folder(t.Context(), name, asItIs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

type zipFile struct {
	name, text string
	flags      uint16
}

func manyFiles(n int) []zipFile {
	var out []zipFile
	for i := range n {
		out = append(out, zipFile{name: strconv.Itoa(i) + ".log"})
	}
	return out
}

func zipped(t *testing.T, files ...zipFile) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "logs.ZIP")
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(out)
	for _, f := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Flags: f.flags})
		if err == nil && f.text != "" {
			_, err = io.WriteString(w, f.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}

func asItIs(in io.Reader) (io.Reader, error) { return in, nil }

// What else a folder holds is no log; a log that cannot be opened may hold the failure.
func TestAFolderKnowsWhatItCouldNotRead(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"a picture":                 {errors.New("is not text"), false},
		"a file of somebody else":   {&fs.PathError{Op: "open", Path: "rank-1.log", Err: fs.ErrPermission}, true},
		"gzip that begins badly":    {fmt.Errorf("is gzip that does not begin well (%w)", gzip.ErrHeader), true},
		"gzip that is cut at once":  {fmt.Errorf("is gzip that does not begin well (%w)", io.ErrUnexpectedEOF), true},
		"nothing that is not there": {nil, false},
	} {
		dir := t.TempDir()
		for _, file := range []string{"rank-0.log", "rank-1.log"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c, _, err := Folder(t.Context(), dir, func(r io.Reader) (io.Reader, error) {
			text, err := io.ReadAll(r)
			if err == nil && string(text) == "rank-1.log" {
				err = tc.err
			}
			return bytes.NewReader(text), err
		})
		if err != nil || c.Unread != tc.want || (len(c.Missing) > 0) != (tc.err != nil) {
			t.Errorf("%s: unread %t, missing %q, %v; want %t", name, c.Unread, c.Missing, err, tc.want)
		}
	}
}

// A link may lead to a log that nobody reads: one that leads to a file of the folder is read there, and another one is told of.
func TestALinkOutOfAFolderIsToldOf(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "real.log")
	if err := os.WriteFile(elsewhere, []byte("torch.OutOfMemoryError: CUDA out of memory.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		to     string
		unread bool
	}{
		"to a file of the folder": {"a.log", false},
		"to a folder of it":       {"deep", false},
		"through another link":    {"again", false},
		"out of the folder":       {elsewhere, true},
		"to nowhere":              {"nowhere.log", true},
		"to itself":               {"link.log", true},
		"to what is not read":     {".hidden", true},
		"up and down again":       {"../" + "x/real.log", true},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			err := errors.Join(
				os.WriteFile(filepath.Join(folder, "a.log"), []byte("step 1 loss 2\n"), 0o600),
				os.WriteFile(filepath.Join(folder, ".hidden"), []byte("step 1 loss 2\n"), 0o600),
				os.Mkdir(filepath.Join(folder, "deep"), 0o700),
			)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.Symlink("a.log", filepath.Join(folder, "again")), os.Symlink(tc.to, filepath.Join(folder, "link.log"))); err != nil {
				t.Skip("there are no links here: ", err)
			}
			c, _, err := Folder(t.Context(), folder, asItIs)
			if err != nil {
				t.Fatal(err)
			}
			said := strings.Join(c.Missing, "\n")
			if len(c.Logs) != 1 || c.Unread != tc.unread || strings.Contains(said, "link.log is a link to no file of the folder") != tc.unread {
				t.Errorf("%d logs, unread %t, missing %q", len(c.Logs), c.Unread, said)
			}
		})
	}
}
