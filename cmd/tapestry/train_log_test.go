package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestResumeRefusesAnothersLog: a training that is resumed is not written on in the log of another,
// nor in one that lacks its steps, nor in what is no log. Nothing is written then.
func TestResumeRefusesAnothersLog(t *testing.T) {
	for _, model := range []string{"test-perceptron", "kmeans-softmax"} {
		t.Run(model, func(t *testing.T) {
			dir := t.TempDir()
			path := func(name string) string { return filepath.Join(dir, name) }
			begin := []string{"train", model, "--seeds", "1", "--optimiser", "adam", "--checkpoint", path("kept"), "--log", path("log")}
			ok(t, append(begin, "--steps", "6")...)
			whole, err := os.ReadFile(path("log"))
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.SplitAfter(whole, []byte("\n"))
			write := func(name string, text []byte) {
				if err := os.WriteFile(path(name), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("short", bytes.Join(lines[:4], nil))
			write("words", []byte("dear diary\n"))
			write("early", bytes.Join(lines[:4], nil))
			for _, c := range []struct{ args, want string }{
				{"regression-relu --checkpoint DIR/other --log DIR/log", "--log DIR/log: it is the log of a training of " + model + ", and this is one of regression-relu: give another file, or repeat the command that it was begun with"},
				{model + " --optimiser sgd --checkpoint DIR/other --log DIR/log", "--log DIR/log: it is the log of another training: --optimiser was adam and is sgd: give another file"},
				{model + " --seed 4 --checkpoint DIR/other --log DIR/log", "it is the log of another training: --seed was 0 and is 4"},
				{model + " --optimiser adam --checkpoint DIR/kept --log DIR/short", "--log DIR/short: it goes to step 3, and DIR/kept to step 6: it is not the log of these steps, or has lost its end: give another file"},
				{model + " --optimiser adam --checkpoint DIR/other --log DIR/log", "it tells of a checkpoint, DIR/kept/step-00000006.safetensors, and DIR/other has none"},
				{model + " --optimiser adam --checkpoint DIR/kept --log DIR/words", "--log: this is not the log of a training, in which one could go on: DIR/words:1:"},
			} {
				args := strings.Fields(strings.ReplaceAll("train "+c.args+" --seeds 1 --steps 9 --resume", "DIR", dir))
				log := args[slices.Index(args, "--log")+1]
				before, err := os.ReadFile(log)
				if err != nil {
					t.Fatal(err)
				}
				code, _, errOut := tapestry(t, args...)
				if want := strings.ReplaceAll(c.want, "DIR", dir); code != 1 || !strings.Contains(errOut, want) {
					t.Errorf("%s: code %d, %q\nwant %q", c.args, code, errOut, want)
				}
				if after, err := os.ReadFile(log); err != nil || !bytes.Equal(after, before) {
					t.Errorf("%s: the log is written to, %v", c.args, err)
				}
				if files, _ := os.ReadDir(path("other")); len(files) > 0 {
					t.Errorf("%s: %v is written", c.args, files[0])
				}
			}
			// A training that was killed before its first checkpoint begins anew, and says so; one
			// that was killed after it has told of steps that come again.
			again := func(args ...string) string {
				t.Helper()
				code, _, errOut := tapestry(t, append([]string{"train", model, "--seeds", "1", "--optimiser", "adam", "--resume"}, args...)...)
				if code != 0 {
					t.Errorf("%v: code %d", args, code)
				}
				return errOut
			}
			if said := again("--steps", "6", "--checkpoint", path("fresh"), "--log", path("early")); said != "tapestry: "+path("fresh")+" has no checkpoint to go on from: the training begins anew, in "+path("early")+" too\n" {
				t.Errorf("without a checkpoint it says %q", said)
			}
			write("log", append(slices.Clone(whole), bytes.ReplaceAll(lines[3], []byte(`"step":3`), []byte(`"step":8`))...))
			if said := again("--steps", "9", "--checkpoint", path("kept"), "--log", path("log")); said != "tapestry: "+path("log")+" goes to step 8, and training goes on from step 6: what follows takes the place of the steps between\n" {
				t.Errorf("with steps that come again it says %q", said)
			}
			if after, err := os.ReadFile(path("log")); err != nil || !bytes.HasPrefix(after, whole) || len(after) < len(whole)+300 {
				t.Errorf("what is resumed is not told in the log, %v", err)
			}
		})
	}
}

// TestResumeSaysWhatItCannotRead: a newest checkpoint that is damaged is passed over and named,
// with the one that training goes on from; where all are, nothing is trained, and the error says
// what to do.
func TestResumeSaysWhatItCannotRead(t *testing.T) {
	for _, model := range []string{"test-perceptron", "kmeans-softmax"} {
		t.Run(model, func(t *testing.T) {
			dir := t.TempDir()
			train := func(steps string) (int, string) {
				code, _, errOut := tapestry(t, "train", model, "--seeds", "1", "--checkpoint", filepath.Join(dir, "kept"), "--log", filepath.Join(dir, "log"), "--resume", "--steps", steps)
				return code, errOut
			}
			for _, steps := range []string{"6", "12"} {
				if code, said := train(steps); code != 0 || said != "" {
					t.Fatalf("code %d, %q", code, said)
				}
			}
			damage := func(name string) string {
				file := filepath.Join(dir, "kept", name)
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				text[len(text)-3] ^= 1
				if err := os.WriteFile(file, text, 0o600); err != nil {
					t.Fatal(err)
				}
				return file
			}
			older := filepath.Join(dir, "kept", "step-00000006.safetensors")
			newer := damage("step-00000012.safetensors")
			code, said := train("14")
			if code != 0 || !strings.Contains(said, "tapestry: passed over, because it cannot be read: "+newer+": ") || !strings.Contains(said, "tapestry: goes on from "+older+", after 6 steps\n") {
				t.Errorf("code %d, %q", code, said)
			}
			for _, name := range []string{"step-00000006.safetensors", "step-00000014.safetensors"} {
				damage(name)
			}
			log, err := os.ReadFile(filepath.Join(dir, "log"))
			if err != nil {
				t.Fatal(err)
			}
			code, said = train("20")
			if code != 1 || !strings.Contains(said, filepath.Join(dir, "kept")+": no checkpoint is whole, the newest: ") || !strings.HasSuffix(said, ": nothing is trained and nothing written; to begin anew, give another folder\n") {
				t.Errorf("code %d, %q", code, said)
			}
			if after, err := os.ReadFile(filepath.Join(dir, "log")); err != nil || !bytes.Equal(log, after) {
				t.Errorf("the log is written to, %v", err)
			}
		})
	}
}
