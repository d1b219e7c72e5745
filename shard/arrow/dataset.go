package arrow

import "github.com/turnmill/turnmill/internal/jsonscan"

// DatasetInfo returns dataset_info.json: the columns' types in the words of datasets. "Sequence" is what
// every release reads; releases 2 and 3 do not know the newer "List".
func DatasetInfo(p Profile) []byte {
	b := []byte(`{"features": {`)
	for i, name := range p.Columns() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n  "...)
		b = jsonscan.AppendQuoted(b, name)
		b = append(b, `: {"_type": "Sequence", "feature": {"_type": "Value", "dtype": `...)
		b = append(jsonscan.AppendQuoted(b, dtype(name)), "}}"...)
	}
	return append(b, "}}\n"...)
}

// State returns state.json, which lists the shards in the order of their rows, by names below the
// directory. datasets takes no key as optional. The fingerprint seeds the keys of users' caches: it must be
// a hash of the content, or a cached result of other content comes back.
func State(files []string, fingerprint, split string) []byte {
	b := []byte(`{"_data_files": [`)
	for i, name := range files {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n  {\"filename\": "...)
		b = append(jsonscan.AppendQuoted(b, name), '}')
	}
	b = append(b, "],\n \"_fingerprint\": "...)
	b = jsonscan.AppendQuoted(b, fingerprint)
	b = append(b, ",\n \"_format_columns\": null,\n \"_format_kwargs\": {},\n \"_format_type\": null,\n"...)
	b = append(b, " \"_output_all_columns\": false,\n \"_split\": "...)
	return append(jsonscan.AppendQuoted(b, split), "}\n"...)
}

// DatasetDict returns dataset_dict.json, which makes the directory above the splits loadable.
func DatasetDict(splits []string) []byte {
	b := []byte(`{"splits": [`)
	for i, split := range splits {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = jsonscan.AppendQuoted(b, split)
	}
	return append(b, "]}\n"...)
}
