package format

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// outside returns the field of a graph with an initialiser w of two floats in a file.
func outside(entries ...string) []byte {
	fields := [][]byte{num(2, uint64(Float)), num(1, 2), num(14, 1)}
	for i := 0; i < len(entries); i += 2 {
		fields = append(fields, msg(13, str(1, entries[i]), str(2, entries[i+1])))
	}
	return weight(fields...)
}

const sum12345678 = "7c222fb2927d828af22f592134e8932480637c0d" // the SHA-1 of "12345678"

func folder(t *testing.T) string {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "models/weights"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"secret.bin": "12345678", "models/w.bin": "12345678", "models/weights/w.bin": "....\x00\x00\x80\x3f\x00\x00\x00\x40"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "models")
}

func TestExternal(t *testing.T) {
	dir := folder(t)
	for _, entries := range [][]string{
		{"location", "weights/w.bin", "offset", "4"},
		{"location", "weights/w.bin", "offset", "4", "length", "8"},
		{"location", "./weights//w.bin", "offset", "4", "checksum", "20B0ADA7280473145243226FD54904CB32D9675D"},
		{"location", "link.bin", "offset", "4", "basepath", "passed over"},
	} {
		if entries[1] == "link.bin" {
			if err := os.Symlink("weights/w.bin", filepath.Join(dir, "link.bin")); err != nil {
				t.Logf("no links here: %v", err)
				continue
			}
		}
		m, err := read(inGraph(outside(entries...)), Limits{Folder: dir})
		if err != nil {
			t.Errorf("%q: %v", entries, err)
			continue
		}
		for range 2 {
			if got, err := m.Graph.Init[0].Floats(); err != nil || !slices.Equal(got, []float64{1, 2}) {
				t.Errorf("%q: got %v, %v", entries, got, err)
			}
		}
	}
}

// No file outside the folder is opened, and none that is not a file.
func TestExternalMistakes(t *testing.T) {
	dir := folder(t)
	os.Symlink("../secret.bin", filepath.Join(dir, "out.bin"))
	os.Symlink("..", filepath.Join(dir, "up"))
	os.Symlink(filepath.Join(filepath.Dir(dir), "secret.bin"), filepath.Join(dir, "absolute.bin"))
	exec.Command("mkfifo", "-m", "644", filepath.Join(dir, "pipe")).Run()
	if err := os.Chmod(filepath.Join(dir, "weights"), 0o755); err != nil {
		t.Fatal(err)
	}
	needs := map[string]string{"link": "out.bin", "link up": "up", "absolute link": "absolute.bin", "a pipe": "pipe"}
	location := func(name string) string {
		return fmt.Sprintf(`the external data have the location %q: want the path of a file in the folder of the model`, name)
	}
	in := fmt.Sprintf("in the folder %q, which ", dir)
	for name, c := range map[string]struct {
		entries []string
		want    string
	}{
		"none":          {nil, location("")},
		"absolute":      {[]string{"location", "/etc/passwd"}, location("/etc/passwd")},
		"up":            {[]string{"location", "../secret.bin"}, location("../secret.bin")},
		"down and up":   {[]string{"location", "weights/../../secret.bin"}, location("weights/../../secret.bin")},
		"within":        {[]string{"location", "weights/../w.bin"}, location("weights/../w.bin")},
		"itself":        {[]string{"location", "."}, location(".")},
		"link":          {[]string{"location", "out.bin"}, `its data are in the file "out.bin" ` + in + `cannot be read: path escapes from parent`},
		"link up":       {[]string{"location", "up/secret.bin"}, `its data are in the file "up/secret.bin" ` + in + `cannot be read: path escapes from parent`},
		"absolute link": {[]string{"location", "absolute.bin"}, `its data are in the file "absolute.bin" ` + in + `cannot be read: path escapes from parent`},
		"a folder":      {[]string{"location", "weights"}, `its data are in the file "weights" ` + in + `cannot be read: it is not a regular file but drwxr-xr-x`},
		"a pipe":        {[]string{"location", "pipe"}, `its data are in the file "pipe" ` + in + `cannot be read: it is not a regular file but prw-r--r--`},
		"missing":       {[]string{"location", "v.bin"}, `its data should be in the file "v.bin" ` + in + `is not there: file does not exist`},
		"twice":         {[]string{"location", "w.bin", "location", "w.bin"}, `the external data have the key "location" twice`},
		"offset":        {[]string{"location", "w.bin", "offset", "-1"}, `the external data have the offset "-1": want an integer from 0`},
		"length":        {[]string{"location", "w.bin", "length", "8 "}, `the external data have the length "8 ": want an integer from 0`},
		"short":         {[]string{"location", "w.bin", "length", "4"}, `of float32[2] has 4 bytes of external data: want 8`},
		"beyond":        {[]string{"location", "w.bin", "offset", "1"}, `has bytes 1 to 9 of "w.bin", which has 8 bytes`},
		"far beyond":    {[]string{"location", "w.bin", "offset", "9223372036854775807"}, `has bytes 9223372036854775807 to 9223372036854775815 of "w.bin", which has 8 bytes`},
		"sum":           {[]string{"location", "w.bin", "checksum", "1234"}, `the external data have the checksum "1234": want 40 hexadecimal digits of a SHA-1`},
	} {
		if needs[name] != "" {
			if _, err := os.Lstat(filepath.Join(dir, needs[name])); err != nil {
				t.Logf("%s cannot be made here", name)
				continue
			}
		}
		_, err := read(inGraph(outside(c.entries...)), Limits{Folder: dir})
		colon := ": "
		if strings.HasPrefix(c.want, "has ") || strings.HasPrefix(c.want, "of ") {
			colon = " "
		}
		place := "byte 4: "
		if name == "twice" {
			place = "byte 29: "
		}
		if want := place + `tensor "w"` + colon + c.want; fmt.Sprint(err) != want {
			t.Errorf("%s: got %v\nwant %s", name, err, want)
		}
		if name == "missing" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v is no fs.ErrNotExist", err)
		}
	}

	_, err := read(inGraph(outside("location", "w.bin")), Limits{})
	if want := `byte 4: tensor "w": its data are in the file "w.bin", and no folder is given in which to look for it`; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = read(inGraph(outside("location", "w.bin")), Limits{Folder: filepath.Join(dir, "none")})
	if want := fmt.Sprintf(`byte 4: tensor "w": its data should be in the file "w.bin" in the folder %q, which is not there: file does not exist`, filepath.Join(dir, "none")); fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = read(inGraph(weight(num(2, 8), num(1, 1), num(14, 1))), Limits{Folder: dir})
	if want := `byte 4: tensor "w" has strings in a file, which ONNX does not allow`; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = read(inGraph(weight(num(2, 1), num(1, 1), str(9, "1234"), num(14, 1))), Limits{Folder: dir})
	if want := `byte 4: tensor "w" has elements in field 9 and in a file`; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
	second := bytes.Replace(outside("location", "w.bin", "checksum", strings.Repeat("0", 40)), []byte("\x42\x01w"), []byte("\x42\x01v"), 1)
	_, err = read(inGraph(outside("location", "w.bin", "checksum", sum12345678), second), Limits{Folder: dir})
	if want := `byte 89: tensor "v": the checksum of "w.bin" is not that of the tensors before`; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A file that changes after the model was read is an error when its elements are read.
func TestExternalDamaged(t *testing.T) {
	dir := folder(t)
	m, err := read(inGraph(outside("location", "w.bin", "checksum", sum12345678)), Limits{Folder: dir})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "w.bin")
	os.WriteFile(name, []byte("12345679"), 0o666)
	_, err = m.Graph.Init[0].Floats()
	if want := `tensor "w": the file "w.bin" is damaged: its checksum is c4b93599…, the model says 7c222fb2…`; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
	m, err = read(inGraph(outside("location", "w.bin")), Limits{Folder: dir})
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(name, []byte("123456"), 0o666)
	_, err = m.Graph.Init[0].Floats()
	if want := `tensor "w": its data end after element 0: unexpected EOF`; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
	os.Remove(name)
	_, err = m.Graph.Init[0].Floats()
	if want := fmt.Sprintf(`tensor "w": its data should be in the file "w.bin" in the folder %q, which is not there: file does not exist`, dir); fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
