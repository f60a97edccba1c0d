//go:build onnxruntime && (linux || darwin || windows) && (amd64 || arm64)

package onnxruntime

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

const notBuilt = "onnxruntime: this program was built without ONNX Runtime"

// apiVersion is the version of the C API that is asked for: that of ONNX Runtime 1.12, the first with
// opset 17. Later versions only add functions to the end of its table.
const apiVersion = 12

// library is the C API of a loaded library, and the objects that all sessions share.
type library struct {
	api
	env, memory, allocator uintptr
}

// load finds and loads the library.
func load(name string) (lib *library, file, version string, err error) {
	from := ""
	if name == "" {
		name = os.Getenv(Variable)
		from = Variable + "="
	}
	names := usualNames()
	if name != "" {
		names = []string{name}
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			if names = within(name); len(names) == 0 {
				return nil, "", "", fmt.Errorf("onnxruntime: %s%s: the folder has no %s", from, name, filePattern)
			}
		}
	}
	var handle uintptr
	for _, file = range names {
		if handle, err = open(file); err == nil {
			break
		}
	}
	if err != nil {
		if name == "" {
			return nil, "", "", fmt.Errorf("onnxruntime: found no %s: set %s to the library's file (npm's package onnxruntime-node has it)", strings.Join(names, " or "), Variable)
		}
		return nil, "", "", fmt.Errorf("onnxruntime: %s%s: %w", from, name, oneLine(err))
	}
	lib, version, err = start(handle)
	if err != nil {
		return nil, "", "", fmt.Errorf("onnxruntime: %s: %w", file, err)
	}
	return lib, file, version, nil
}

func oneLine(err error) error { return errors.New(strings.Join(strings.Fields(err.Error()), " ")) }

// within lists the files of a folder that are named as the library is, perhaps with a version.
func within(folder string) []string {
	files, _ := filepath.Glob(filepath.Join(folder, filePattern))
	return files
}

// start gets the table of functions, and makes what sessions share.
func start(handle uintptr) (*library, string, error) {
	address, err := symbol(handle, "OrtGetApiBase")
	if err != nil {
		return nil, "", errors.New("it is not ONNX Runtime's library: it has no OrtGetApiBase")
	}
	var base func() *[2]uintptr // GetApi, GetVersionString
	purego.RegisterFunc(&base, address)
	var getAPI func(version uint32) *table
	var getVersion func() string
	both := base()
	purego.RegisterFunc(&getAPI, both[0])
	purego.RegisterFunc(&getVersion, both[1])
	version := getVersion()
	t := getAPI(apiVersion)
	if t == nil {
		return nil, "", fmt.Errorf("version %s: want 1.%d or later", version, apiVersion)
	}
	l := &library{}
	l.register(t)
	err = l.failed(l.createEnv(levelFatal, "tapestry", &l.env))
	if err == nil {
		err = l.failed(l.createCPUMemoryInfo(allocatorArena, memoryDefault, &l.memory))
	}
	if err == nil {
		err = l.failed(l.getAllocator(&l.allocator))
	}
	return l, version, err
}

// failed returns the error of a status, and frees it.
func (l *library) failed(status uintptr) error {
	if status == 0 {
		return nil
	}
	defer l.releaseStatus(status)
	return failure(l.getErrorMessage(status))
}

// failure returns ONNX Runtime's message as an error of one line.
func failure(message string) error {
	return fmt.Errorf("onnxruntime: %s", strings.Join(strings.Fields(message), " "))
}

// text copies a C string that the library allocated, and frees it.
func (l *library) text(p unsafe.Pointer) (string, error) {
	s := stringAt(p)
	return s, l.failed(l.allocatorFree(l.allocator, p))
}

func stringAt(p unsafe.Pointer) string {
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}
