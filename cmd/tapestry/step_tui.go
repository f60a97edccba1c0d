package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/tapestry-ml/tapestry/inspect"
)

// stepper is the program in the terminal. While it trains or runs on to a break, a goroutine uses
// the session, and the screen shows what was loaded last.
type stepper struct {
	ctx           context.Context
	session       *inspect.Session
	view          stepView
	width, height int
	loops         []entered // the loops entered, the innermost last
	written       bool      // the model is shown as written
	node          int       // index of the shown node then
	breaks        []inspect.Break
	status        string
	prompt        rune // g or b while a line is typed, otherwise 0
	input         string
	help          bool
	helpFrom      int                // the first line of the help that is shown
	cancel        context.CancelFunc // cancels the work under way; nil if there is none
}

// worked is sent when the work under way has ended.
type worked struct {
	note string
	err  error
}

func newStepper(ctx context.Context, s *inspect.Session, title string) *stepper {
	m := &stepper{ctx: ctx, session: s, view: stepView{title: title}, width: 80, height: 24}
	m.load()
	return m
}

// Init implements [tea.Model]; there is nothing to begin with.
func (m *stepper) Init() tea.Cmd { return nil }

// load reads the values at the session's place.
func (m *stepper) load() {
	shown := m.view.shown
	same := m.view.ins != nil && m.view.ins.Row.Node == m.present()
	if !same {
		m.view.window = inspect.Window{}
	}
	if err := m.look(); err != nil {
		m.status = plainError(err)
	} else if same && shown < len(m.view.seen) {
		m.view.shown = shown // after training on, the same value stays selected
	}
}

// work runs f, which may take long, in the background.
func (m *stepper) work(what string, f func(ctx context.Context) (note string, err error)) tea.Cmd {
	ctx, cancel := context.WithCancel(m.ctx)
	m.cancel, m.status = cancel, what+" … (esc stops)"
	return func() tea.Msg {
		note, err := f(ctx)
		return worked{note, err}
	}
}

// Update handles a key, a new size of the terminal, or the end of the work under way.
func (m *stepper) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case worked:
		m.cancel()
		m.cancel, m.status = nil, msg.note
		m.load()
		switch {
		case errors.Is(msg.err, context.Canceled):
			m.status = "stopped"
		case msg.err != nil:
			m.status = plainError(msg.err)
		}
	case tea.KeyMsg:
		return m, m.key(msg)
	}
	return m, nil
}

func (m *stepper) key(k tea.KeyMsg) tea.Cmd {
	name := k.String()
	switch {
	case m.cancel != nil:
		if name == "esc" || name == "ctrl+c" || name == "q" {
			m.cancel()
		}
		return nil
	case name == "ctrl+c":
		return tea.Quit
	case m.prompt != 0:
		m.typed(k)
		return nil
	case m.help:
		lines, more := m.helpPage()
		m.help, m.helpFrom = more, m.helpFrom+len(lines)
		return nil
	}
	m.status = ""
	if len(m.loops) > 0 && m.insideKey(name) || m.written && m.writtenKey(name) {
		return nil
	}
	switch name {
	case "enter":
		m.goInside()
	case "u":
		m.toWritten()
	case "q":
		return tea.Quit
	case "?":
		m.help, m.helpFrom = true, 0
	case "right", "l", "down", "j":
		return m.moved(m.session.Next(), 1)
	case "left", "h", "up", "k":
		return m.moved(m.session.Back(), -1)
	case "n":
		return m.moved(m.session.NextNode(), 1)
	case "N":
		return m.moved(m.session.BackNode(), -1)
	case "home":
		_ = m.session.Seek(0) // it exists
		m.load()
	case "end":
		_ = m.session.Seek(m.session.Len() - 1)
		m.load()
	case "t":
		return m.work("training", func(ctx context.Context) (string, error) { return "", m.session.Train(ctx, 1) })
	case "T":
		if m.session.Step() == 0 {
			m.status = "this is where training begins"
			return nil
		}
		return m.work("going back", func(ctx context.Context) (string, error) { return "", m.session.Rewind(ctx, m.session.Step()-1) })
	case "c", "C":
		if len(m.breaks) == 0 {
			m.status = "no break is set: b sets one"
			return nil
		}
		return m.work("running", func(ctx context.Context) (string, error) { return goOn(ctx, m.session, name == "C", m.breaks...) })
	case "g", "b":
		m.prompt, m.input = rune(name[0]), ""
	case "B":
		m.breaks, m.status = nil, "no breaks"
	case "tab":
		m.choose(1)
	case "shift+tab":
		m.choose(-1)
	case "pgdown", " ":
		m.page(0, 1)
	case "pgup":
		m.page(0, -1)
	case "]":
		m.page(1, 1)
	case "[":
		m.page(1, -1)
	case "}":
		m.page(2, 1)
	case "{":
		m.page(2, -1)
	}
	return nil
}

// moved continues beyond the ends of a training step, into the next or the previous one.
func (m *stepper) moved(ok bool, by int) tea.Cmd {
	switch {
	case ok:
		m.load()
	case by > 0:
		return m.work("training", func(ctx context.Context) (string, error) {
			if err := m.session.Train(ctx, 1); err != nil {
				return "", err
			}
			return fmt.Sprintf("training step %d begins", m.session.Step()), m.session.Seek(0)
		})
	case m.session.Step() == 0:
		m.status = "this is where training begins"
	default:
		return m.work("going back", func(ctx context.Context) (string, error) {
			if err := m.session.Rewind(ctx, m.session.Step()-1); err != nil {
				return "", err
			}
			return fmt.Sprintf("back in training step %d", m.session.Step()), m.session.Seek(m.session.Len() - 1)
		})
	}
	return nil
}

// choose selects another value to write out.
func (m *stepper) choose(by int) {
	if n := len(m.view.seen); n > 0 {
		m.view.shown = (m.view.shown + by + n) % n
		m.view.window = inspect.Window{}
	}
}

// page moves the window of values along an axis: 0 is the last but one, 1 the last, 2 the one
// before both.
func (m *stepper) page(axis, by int) {
	if len(m.view.seen) == 0 {
		return
	}
	shape := m.view.seen[m.view.shown].value.Type.Shape
	rank := shape.Rank()
	at, step := rank-2, max(1, m.view.window.Rows)
	switch {
	case rank == 0:
		return
	case rank == 1:
		at, step = 0, step*max(1, m.view.window.Columns)
	case axis == 1:
		at, step = rank-1, max(1, m.view.window.Columns)
	case axis == 2:
		at, step = rank-3, 1
	}
	if at < 0 {
		return
	}
	if m.view.window.From == nil {
		m.view.window.From = make([]int, rank)
		if by < 0 {
			m.view.window.From[at] = shape.Dim(at)
		} else if axis == 0 {
			by = 0 // the first page, without the ellipsis
		}
	}
	from := m.view.window.From
	from[at] = min(max(from[at]+by*step, 0), shape.Dim(at)-1)
}

// typed edits the line of a prompt.
func (m *stepper) typed(k tea.KeyMsg) {
	switch k.Type {
	case tea.KeyEsc:
		m.prompt = 0
	case tea.KeyBackspace:
		if r := []rune(m.input); len(r) > 0 {
			m.input = string(r[:len(r)-1])
		}
	case tea.KeySpace:
		m.input += " "
	case tea.KeyRunes:
		m.input += string(k.Runes)
	case tea.KeyEnter:
		m.enter()
	}
}

// plainError returns the text of an error without the name of its package.
func plainError(err error) string { return strings.TrimPrefix(err.Error(), "inspect: ") }

// enter executes the typed line.
func (m *stepper) enter() {
	was := m.prompt
	m.prompt = 0
	if strings.TrimSpace(m.input) == "" {
		return
	}
	if was == 'b' {
		b, err := m.session.ParseBreak(m.input)
		if err != nil {
			m.status = plainError(err)
			return
		}
		m.breaks = append(m.breaks, b)
		m.status = "break at " + b.String() + ": c runs on to it, C back"
		return
	}
	if err := seekText(m.session, strings.TrimSpace(m.input)); err != nil {
		m.status = plainError(err)
		return
	}
	m.load()
}
