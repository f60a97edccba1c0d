package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/infer"
)

// say continues the prompt with a checkpoint's language model, and prints each token as soon as it
// is chosen.
func (p *predicting) say(cmd *cobra.Command, o *options, path string) error {
	s, err := p.load(path)
	if err != nil {
		return err
	}
	generator, vocabulary, err := infer.LoadGenerator(cmd.Context(), s, p.sampling)
	if err != nil {
		return explained(err, s)
	}
	defer generator.Close()
	codes, err := vocabulary.Encode(p.prompt)
	if err != nil {
		return fmt.Errorf("--prompt: %w", err)
	}
	between := ""
	if vocabulary.Tokeniser().Words {
		between = " "
	}
	step := s.Store.Step() // which what is said adds to
	return writeOutput(p.out, cmd.OutOrStdout(), func(w io.Writer) error {
		said, failed := "", error(nil)
		if !o.json {
			if _, err := io.WriteString(w, p.prompt); err != nil {
				return err
			}
		}
		err := generator.Generate(cmd.Context(), codes, p.tokens, func(code int32) bool {
			token, err := vocabulary.Token(int(code))
			if token = between + token; err == nil && !o.json {
				_, err = io.WriteString(w, token)
			}
			said, failed = said+token, err
			return err == nil
		})
		switch {
		case err != nil:
			return err
		case failed != nil:
			return failed
		case o.json:
			return printJSON(w, struct {
				Model    string `json:"model"`
				Step     uint64 `json:"step"`
				Sampling string `json:"sampling"`
				Prompt   string `json:"prompt"`
				Said     string `json:"said"`
			}{s.Model.Name, step, p.sampling.String(), p.prompt, said})
		}
		_, err = fmt.Fprintln(w)
		return err
	})
}
