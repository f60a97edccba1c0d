//go:build onnxruntime && (linux || darwin || windows) && (amd64 || arm64)

package onnxruntime

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

// Numbers of onnxruntime_c_api.h.
const (
	levelFatal     = 4 // of logging: errors are returned, and need not be printed
	allocatorArena = 1
	memoryDefault  = 0
	optimiseNone   = 0
	onnxTensor     = 1 // of ONNXType
)

// table is the beginning of OrtApi, the C structure of functions.
type table [119]uintptr

// api is the functions that are called, each registered with its C arguments: statuses, which are
// returned, and handles are addresses of the library's own. purego calls them by reflection, so that
// whatever an argument points to lies on the heap, where it does not move, and lives until the call
// ends; an address that was made a uintptr would be that of a stack that may have moved.
type api struct {
	getErrorMessage       func(status uintptr) string
	createEnv             func(level int32, name string, env *uintptr) uintptr
	createSession         func(env uintptr, path unsafe.Pointer, options uintptr, session *uintptr) uintptr
	createSessionFrom     func(env uintptr, model unsafe.Pointer, bytes uintptr, options uintptr, session *uintptr) uintptr
	run                   func(session, options uintptr, inputNames *unsafe.Pointer, inputs *uintptr, numInputs uintptr, outputNames *unsafe.Pointer, numOutputs uintptr, outputs *uintptr) uintptr
	createSessionOptions  func(options *uintptr) uintptr
	setOptimisation       func(options uintptr, level int32) uintptr
	setThreads            func(options uintptr, n int32) uintptr
	count                 [3]func(session uintptr, n *uintptr) uintptr // of inputs, outputs, and inputs with defaults
	typeOf                [3]func(session, i uintptr, info *uintptr) uintptr
	nameOf                [3]func(session, i, allocator uintptr, name *unsafe.Pointer) uintptr
	createRunOptions      func(options *uintptr) uintptr
	setTerminate          func(options uintptr) uintptr
	createTensor          func(memory uintptr, data unsafe.Pointer, bytes uintptr, shape *int64, rank uintptr, elements int32, value *uintptr) uintptr
	isTensor              func(value uintptr, is *int32) uintptr
	getData               func(value uintptr, data *unsafe.Pointer) uintptr
	castToTensorInfo      func(info uintptr, shape *uintptr) uintptr
	getONNXType           func(info uintptr, kind *int32) uintptr
	getElementType        func(shape uintptr, elements *int32) uintptr
	getRank               func(shape uintptr, rank *uintptr) uintptr
	getDims               func(shape uintptr, sizes *int64, rank uintptr) uintptr
	getSymbols            func(shape uintptr, names *unsafe.Pointer, rank uintptr) uintptr
	getShape              func(value uintptr, shape *uintptr) uintptr
	createCPUMemoryInfo   func(allocator, memory int32, info *uintptr) uintptr
	allocatorFree         func(allocator uintptr, p unsafe.Pointer) uintptr
	getAllocator          func(allocator *uintptr) uintptr
	releaseStatus         func(status uintptr)
	releaseSession        func(session uintptr)
	releaseValue          func(value uintptr)
	releaseRunOptions     func(options uintptr)
	releaseTypeInfo       func(info uintptr)
	releaseShape          func(shape uintptr)
	releaseSessionOptions func(options uintptr)
	getMetadata           func(session uintptr, metadata *uintptr) uintptr
	lookUp                func(metadata, allocator uintptr, key string, value *unsafe.Pointer) uintptr
	releaseMetadata       func(metadata uintptr)
}

// register takes the functions from their places in the table, which never change.
func (a *api) register(t *table) {
	for place, f := range map[int]any{
		2: &a.getErrorMessage, 3: &a.createEnv, 7: &a.createSession, 8: &a.createSessionFrom, 9: &a.run,
		10: &a.createSessionOptions, 23: &a.setOptimisation, 24: &a.setThreads,
		30: &a.count[0], 31: &a.count[1], 32: &a.count[2],
		33: &a.typeOf[0], 34: &a.typeOf[1], 35: &a.typeOf[2],
		36: &a.nameOf[0], 37: &a.nameOf[1], 38: &a.nameOf[2],
		39: &a.createRunOptions, 46: &a.setTerminate, 49: &a.createTensor, 50: &a.isTensor, 51: &a.getData,
		55: &a.castToTensorInfo, 56: &a.getONNXType, 60: &a.getElementType, 61: &a.getRank, 62: &a.getDims,
		63: &a.getSymbols, 65: &a.getShape, 69: &a.createCPUMemoryInfo, 76: &a.allocatorFree, 78: &a.getAllocator,
		93: &a.releaseStatus, 95: &a.releaseSession, 96: &a.releaseValue, 97: &a.releaseRunOptions,
		98: &a.releaseTypeInfo, 99: &a.releaseShape, 100: &a.releaseSessionOptions,
		111: &a.getMetadata, 116: &a.lookUp, 118: &a.releaseMetadata,
	} {
		purego.RegisterFunc(f, t[place])
	}
}
