package newcomer

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const (
	module  = "github.com/tapestry-ml/tapestry"
	version = "v0.1.0" // of the checkout, as it is published to the tests
	root    = "../.."
)

// home is a folder that stands for the machine of somebody who has Go and nothing else.
type home struct {
	dir    string
	goroot string
	env    []string
}

var (
	shared     home
	sharedErr  error
	makeShared sync.Once
)

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.dir != "" {
		if err := os.RemoveAll(shared.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// newHome returns the home that all tests share, in which the checkout is published as
// version. Its module cache starts empty; the build cache is the user's own, since what it
// holds is chosen by content.
func newHome(t *testing.T) home {
	t.Helper()
	if testing.Short() {
		t.Skip("builds everything from a module proxy")
	}
	makeShared.Do(func() { shared, sharedErr = publish() })
	if sharedErr != nil {
		t.Fatal(sharedErr)
	}
	return shared
}

// publish makes a home and a proxy of files in it.
func publish() (h home, err error) {
	if h.dir, err = os.MkdirTemp("", "newcomer"); err != nil {
		return h, err
	}
	out, err := exec.Command("go", "env", "GOROOT", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		return h, fmt.Errorf("go env: %w", err)
	}
	set := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(set) != 3 {
		return h, fmt.Errorf("go env prints %q", out)
	}
	gocache, downloads := set[1], filepath.Join(set[2], "cache", "download")
	h.goroot = set[0]
	// All that is built below must be among the downloads: go list fetches what is missing.
	if out, err := exec.Command("go", "list", "-deps", module+"/...").CombinedOutput(); err != nil {
		return h, fmt.Errorf("go list: %w\n%s", err, out)
	}
	proxy := filepath.Join(h.dir, "proxy")
	if err := pack(filepath.Join(proxy, filepath.FromSlash(module), "@v")); err != nil {
		return h, err
	}
	h.env = []string{
		"HOME=" + h.dir,
		"USERPROFILE=" + h.dir,
		"PATH=" + strings.Join([]string{filepath.Join(h.goroot, "bin"), filepath.Join(h.dir, "go", "bin")}, string(os.PathListSeparator)),
		"TMPDIR=" + os.TempDir(),
		"TMP=" + os.TempDir(),
		"SystemRoot=" + os.Getenv("SystemRoot"),
		"GOCACHE=" + gocache,
		"GOPROXY=" + fileURL(proxy) + "," + fileURL(downloads),
		"GOSUMDB=off",
		"GOTOOLCHAIN=local",
		"GOFLAGS=-modcacherw -trimpath", // a cache that can be removed; builds that do not depend on where it is
	}
	return h, nil
}

// fileURL returns the URL of a folder.
func fileURL(dir string) string {
	dir = filepath.ToSlash(dir)
	if !strings.HasPrefix(dir, "/") {
		dir = "/" + dir // C:/
	}
	return (&url.URL{Scheme: "file", Path: dir}).String()
}

// pack writes the checkout as a version of the module into dir, as a proxy serves it: without
// hidden folders and without the modules within it.
func pack(dir string) (err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"list":            version + "\n",
		version + ".info": `{"Version":"` + version + `"}`,
		version + ".mod":  string(mod),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		return err
	}
	z := zip.NewWriter(f)
	defer func() { err = errors.Join(err, z.Close(), f.Close()) }()
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == root {
			return err
		}
		if d.IsDir() {
			if _, err := os.Stat(filepath.Join(file, "go.mod")); err == nil || strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: path.Join(module+"@"+version, filepath.ToSlash(name)), Method: zip.Store})
		if err != nil {
			return err
		}
		r, err := os.Open(file)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, r)
		return errors.Join(err, r.Close())
	})
}

// command returns the command that runs a program of the home in dir.
func (h home) command(dir, program string, args ...string) *exec.Cmd {
	bin := filepath.Join(h.dir, "go", "bin")
	if program == "go" {
		bin = filepath.Join(h.goroot, "bin")
	}
	cmd := exec.Command(filepath.Join(bin, program), args...)
	cmd.Dir, cmd.Env = dir, h.env
	return cmd
}

// run runs a program of the home in dir, and returns what it prints.
func (h home) run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := h.command(dir, program, args...)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", program, strings.Join(args, " "), err, out, complaints.String())
	}
	return string(out)
}

// install installs the command as the README says.
func (h home) install(t *testing.T) {
	t.Helper()
	h.run(t, t.TempDir(), "go", "install", module+"/cmd/tapestry@latest")
}

// start makes a module in dir and adds this one to it as the README says.
func (h home) start(t *testing.T, dir string) {
	t.Helper()
	h.run(t, dir, "go", "mod", "init", "example")
	h.run(t, dir, "go", "get", module+"@latest")
}
