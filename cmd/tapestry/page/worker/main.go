//go:build js && wasm

// Worker is the page's engine in the browser: worker.js runs it, and it answers what the page asks
// by messages. There is one thread, so an answer under way holds up the others, except that a
// training lets them in between its turns.
package main

import (
	"context"
	"log"
	"os"
	"syscall/js"

	"github.com/tapestry-ml/tapestry/cmd/tapestry/page"
)

// memory is what documents may come to hold together: a page has at most 4 GiB.
const memory = 1 << 30

func main() {
	w := &worker{
		page:  page.New(page.Options{Notation: page.Formulas{}, Memory: memory, Log: log.New(os.Stderr, "tapestry: ", 0), Between: pause}),
		stops: map[int]context.CancelFunc{},
	}
	js.Global().Call("ready", js.FuncOf(func(_ js.Value, args []js.Value) any { w.hear(args[0]); return nil }))
	select {}
}

type worker struct {
	page  *page.Service
	stops map[int]context.CancelFunc // of the questions under way, by their number
}

// hear takes a message {id, method, path, query, body}, or {id, stop: true} when nobody waits for
// that answer any more.
func (w *worker) hear(m js.Value) {
	id := m.Get("id").Int()
	if m.Get("stop").Truthy() {
		if stop := w.stops[id]; stop != nil {
			stop()
		}
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	w.stops[id] = stop
	q := page.Request{Method: m.Get("method").String(), Path: m.Get("path").String(), Query: m.Get("query").String(), Body: []byte(m.Get("body").String())}
	go func() {
		defer stop()
		defer delete(w.stops, id)
		if pause(); ctx.Err() == nil {
			w.answer(ctx, id, q)
		}
	}()
}

// answer posts an answer: {id, status, kind, name, text, done}, and {id, text, done} for its lines.
func (w *worker) answer(ctx context.Context, id int, q page.Request) {
	a := w.page.Answer(ctx, q)
	post(map[string]any{"id": id, "status": a.Status, "kind": a.Kind, "name": a.Name, "done": a.Lines == nil}, a.Text)
	if a.Sent != nil {
		a.Sent()
	}
	if a.Lines == nil {
		return
	}
	a.Lines(ctx, func(text []byte) error {
		post(map[string]any{"id": id, "done": false}, text)
		pause()
		return nil
	})
	post(map[string]any{"id": id, "done": true}, nil)
}

// post sends a message with a text, whose bytes become the page's.
func post(m map[string]any, text []byte) {
	bytes := js.Global().Get("Uint8Array").New(len(text))
	js.CopyBytesToJS(bytes, text)
	m["text"] = bytes
	js.Global().Call("postMessage", m, []any{bytes.Get("buffer")})
}

// pause waits until the messages that have come are heard.
func pause() {
	heard := make(chan struct{})
	resume := js.FuncOf(func(js.Value, []js.Value) any { close(heard); return nil })
	js.Global().Call("pause", resume)
	<-heard
	resume.Release()
}
