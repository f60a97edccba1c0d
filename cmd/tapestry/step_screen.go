package main

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/internal/terminal"
)

// The colours. Terminals without colours show the same text.
var (
	titleStyle   = lipgloss.NewStyle().Bold(true)
	presentStyle = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.AdaptiveColor{Light: "25", Dark: "117"})
	quietStyle   = lipgloss.NewStyle().Foreground(lipgloss.AdaptiveColor{Light: "241", Dark: "245"})
	alarmStyle   = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.AdaptiveColor{Light: "124", Dark: "203"})
)

const stepHelp = `→ ↓ l j   next instruction; behind the last one a training step is done
← ↑ h k   the one before; before the first one, the training step before
n  N      next, previous node of the model: a quantity or an operation
home end  first, last instruction of the training step
g         go to an instruction by its number, or to a quantity: alpha

t  T      train a step; take it back
u         the model as it is written, node by node, and back to the program
enter     go into a loop: → ← along its body, t T to the next iteration and
          the one before, esc out
b         set a break: alpha   |α| > 0.9   loss < 0.4   |any| > 3   nan   inf
          step 40   shape 150x3
c  C      run on to a break, forwards or back in time
B         forget all breaks

tab       write out another value: operands, result, derivatives
space     page on in it, pgup back; [ ] its last axis, { } that before both

▶ the instruction; ╭│╰ joins what runs block by block; ~ in a worker's
scratch, = in place of an operand, + a sum over the rows; ∂ derivative
of the loss by the value above it
?  this page      q  quit`

// View draws the screen.
func (m *stepper) View() string {
	if m.width < 20 || m.height < 8 {
		return clip("the terminal is too small", m.width)
	}
	if m.view.ins == nil {
		return m.status + "\n"
	}
	var lines []string
	put := func(style lipgloss.Style, text ...string) {
		for _, t := range text {
			lines = append(lines, style.Render(clip(terminal.Clean(t), m.width)))
		}
	}
	plain := lipgloss.NewStyle()
	put(titleStyle, m.view.head())
	if m.help {
		text, _ := m.helpPage()
		put(plain, text...)
	} else {
		m.panes(put)
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	lines = lines[:m.height-1]
	put(quietStyle, m.foot())
	return strings.Join(lines, "\n")
}

// panes prints the program, the meaning of the instruction, its values in brief, and one of them
// in full. The values in brief take at most half of the screen.
func (m *stepper) panes(put func(lipgloss.Style, ...string)) {
	plain := lipgloss.NewStyle()
	rule := strings.Repeat("─", m.width)
	short := append(m.view.meaning(), m.view.statistics(m.width)...)
	room := m.height - 4 // without title, foot and two rules
	if most := max(4, room/2); len(short) > most {
		short = append(short[:most-1:most-1], "  …")
	}
	room -= len(short)
	above := max(3, room/2)
	program, at := m.view.listing(above)
	for i, line := range program {
		if i == at {
			put(presentStyle, line)
		} else {
			put(plain, line)
		}
	}
	put(quietStyle, rule)
	for i, line := range short {
		switch {
		case i == 0:
			put(titleStyle, line)
		case i <= 2:
			put(quietStyle, line)
		case strings.Contains(line, "NaN") || strings.Contains(line, " Inf"):
			put(alarmStyle, line)
		default:
			put(plain, line)
		}
	}
	put(quietStyle, rule)
	height := max(3, room-len(program))
	values := m.view.values(m.width, height)
	m.view.window.Rows = max(1, height-2)
	put(plain, values...)
}

// helpPage returns the part of the help that fits, and whether there is more.
func (m *stepper) helpPage() (lines []string, more bool) {
	lines = strings.Split(stepHelp, "\n")[m.helpFrom:]
	if room := m.height - 2; len(lines) > room {
		return lines[:room], true
	}
	return lines, false
}

// foot returns the prompt, or the news, or the keys.
func (m *stepper) foot() string {
	switch {
	case m.help:
		if _, more := m.helpPage(); more {
			return "any key goes on"
		}
		return "any key goes back"
	case m.prompt == 'g':
		return "go to (number or quantity): " + m.input + "█"
	case m.prompt == 'b':
		return "break (" + inspect.Wants + "): " + m.input + "█"
	case m.status != "":
		return m.status
	}
	const always = "? help  q quit"
	keys := "←→ step  n node  t train  g go  b break  c run  tab space values"
	if len(m.breaks) > 0 {
		var names []string
		for _, b := range m.breaks {
			names = append(names, b.String())
		}
		keys = "breaks: " + strings.Join(names, ", ") + " · c C run  B clear"
	}
	if utf8.RuneCountInString(keys)+2+len(always) > m.width { // the end is cut off
		return always + "  " + keys
	}
	return keys + "  " + always
}
