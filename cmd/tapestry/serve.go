package main

import (
	"fmt"
	"log"
	"net"
	"net/netip"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	web "github.com/tapestry-ml/tapestry/cmd/tapestry/page"
	"github.com/tapestry-ml/tapestry/cmd/tapestry/page/server"
	"github.com/tapestry-ml/tapestry/lab"
)

// serving has the flags of serve.
type serving struct {
	fitting
	addr      string
	browse    bool
	anyone    bool
	dtype     string
	optimiser string
	notes     asNotes
	rate      float64
	logs      []string
	memory    byteSize
}

func newServe(o *options) *cobra.Command {
	var f serving
	cmd := &cobra.Command{
		Use:   "serve [MODEL|FILE ...]",
		Short: "Read, step, train and compare models in the browser",
		Long: `Serves a page in which models are read, stepped through, trained and compared, and opens
the given models in it, with --data on data of yours. With --log it plots running
trainings in one chart from their logs: files of JSON lines as package train/watch writes
them, which need not exist yet, or folders, of which it follows every NAME.jsonl. A run of
tapestry train opens its model there, with the files that it names as they lie from the
folder in which it ran. The page is for this machine alone: the server listens at
a loopback address, answers only to that address's names and only to the page itself, and
contacts no other machine. Interrupt it to end it.`,
		Example: "  tapestry serve\n  tapestry serve kmeans-softmax kmeans-goofy --open\n  tapestry serve mine.tapestry --data houses.csv --bind y=price\n  tapestry serve --log run.jsonl --log other.jsonl\n  tapestry serve --log runs\n  tapestry serve --addr 127.0.0.1:0",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, o, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.addr, "addr", "127.0.0.1:8080", "address to listen at; port 0 for any free port")
	flags.BoolVar(&f.browse, "open", false, "open the page in the browser")
	flags.BoolVar(&f.anyone, "listen-anyone", false, "allow an address that other machines can reach; there is no password")
	flags.Var(&f.memory, "memory", "memory for all open models, reports and downloads, such as 512MiB (default: 2GiB); if another model has no room, the one longest unused is closed")
	f.fitting.flags(cmd, "iris")
	f.cutFlags(cmd)
	flags.StringVar(&f.dtype, "dtype", "f32", showingDType)
	flags.StringArrayVar(&f.logs, "log", nil, "follow the log of a training, which may still be running, or all NAME.jsonl in a folder; may be given several times")
	flags.StringVar(&f.optimiser, "optimiser", "", "optimiser of the training sessions (default: that of the model, or adam)")
	f.notes.trainingFlags(cmd)
	flags.Float64Var(&f.rate, "rate", 0, fmt.Sprintf("%s, which are %d", rateUsage, lab.ClusteringSteps))
	return cmd
}

func (f *serving) run(cmd *cobra.Command, o *options, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	if slices.Contains(f.logs, "") {
		return usagef("--log: want the name of a file")
	}
	if len(args) == 0 {
		if err := idle(cmd, "want a MODEL that is opened with it", append([]string{"data", "dtype", "optimiser", "rate", "as-notes"}, dataFlags...)...); err != nil {
			return err
		}
	}
	if f.rate == 0 && cmd.Flags().Changed("rate") {
		return usagef("--rate 0: want a positive number")
	}
	if err := f.alone(); err != nil {
		return err
	}
	f.several = len(args) > 1
	if err := f.notes.check(args...); err != nil {
		return err
	}
	with := &servedData{fitting: &f.fitting, seed: o.seed, names: args, notes: f.notes}
	var models []web.Model
	for _, name := range args {
		m, err := with.served(name)
		if err != nil {
			return err
		}
		m.DType, m.Optimiser, m.Rate, m.Seed, m.AsNotes = f.dtype, f.notes.named(f.optimiser), f.rate, o.seed, f.notes.on && m.Text == ""
		models = append(models, m)
	}
	if err := f.allMet(); err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(cmd.Context(), "tcp", f.addr)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }() // already closed if the server ran
	logger := log.New(cmd.ErrOrStderr(), "tapestry: ", 0)
	s := web.New(web.Options{Families: append(with.families, families()...), Notation: web.Formulas{Fit: with.fit}, Tables: with.tables, Report: with.report, Trained: logged, Memory: f.memory.bytes, Logs: f.logs, Log: logger})
	for _, m := range models {
		if err := s.Open(cmd.Context(), m); err != nil {
			s.Close()
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	address := "http://" + l.Addr().String() + "/"
	if o.json {
		err = printJSON(cmd.OutOrStdout(), struct {
			Address string `json:"address"`
		}{address})
	} else {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "the page is at %s (interrupt to end)\n", address)
	}
	if err != nil {
		s.Close()
		return err
	}
	if at, is := l.Addr().(*net.TCPAddr); is && !at.IP.IsLoopback() {
		fmt.Fprintln(cmd.ErrOrStderr(), "tapestry: warning: other machines can reach this page, which has no password: whoever opens it can compute on this machine")
	}
	if f.browse {
		if err := browse(address); err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "tapestry: --open: %v; open %s yourself\n", err, address)
		}
	}
	return server.New(s, server.Hosts(l.Addr()), logger).Serve(cmd.Context(), l)
}

// check rejects addresses that other machines can reach, unless they are allowed.
func (f *serving) check() error {
	host, port, err := net.SplitHostPort(f.addr)
	if err != nil {
		return usagef("--addr %q: want HOST:PORT, as in 127.0.0.1:8080", f.addr)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return usagef("--addr %q: no such port", f.addr)
	}
	if host == "localhost" {
		f.addr = "127.0.0.1:" + port
		return nil
	}
	at, err := netip.ParseAddr(strings.Trim(host, "[]"))
	switch {
	case host != "" && err != nil:
		return usagef("--addr %q: want localhost or the number of an address", f.addr)
	case err == nil && at.IsLoopback():
		return nil
	case !f.anyone:
		return usagef("--addr %s: other machines can reach that address, and the page has no password: want a loopback address such as 127.0.0.1:8080, or --listen-anyone", f.addr)
	}
	return nil
}

// browse opens an address in the system's browser.
func browse(address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // it may live as long as the browser
	return nil
}
