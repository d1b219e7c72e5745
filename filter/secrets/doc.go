// Package secrets finds secrets in the texts of a trajectory, and replaces them.
//
//	text of a field
//	  | grams     words that stand beside secrets, found two bytes at a time    clean text ends here
//	  | plausible a look at the bytes around the word                           nearly all other text ends here
//	  | view      a window of the text as it would be read: escapes decoded, terminal codes out, soft line ends joined
//	  | rules     shapes of issuers (the gitleaks set), and ours: named values, headers, addresses, key blocks
//	  v
//	spans of the text, each with kind and value
//	  | numbers   one number a value within a trajectory, the same in every field and form
//	  v
//	text with REDACTED.kind.n instead; JSON stays JSON
//
// It owns what a secret looks like and what stands in its place. Counting by domain, and which texts are looked at
// beside trajectories and documents (details of rejects, excerpts of records), is the matter of pipelines.
package secrets
