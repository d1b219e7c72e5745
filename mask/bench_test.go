package mask

import (
	"fmt"
	"strings"
	"testing"
)

type sample struct{ name, text string }

// sampleTexts returns texts of about 16 KiB whose words vary as those of real turns do.
func sampleTexts() []sample {
	build := func(line func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < 16<<10; i++ {
			b.WriteString(line(i))
		}
		return b.String()
	}
	log := build(func(i int) string {
		return fmt.Sprintf("2024-03-%02d 10:%02d:%02d INFO worker-%d: fetched %d rows from orders_%d in %d ms\n", i%28+1, i%60, i*7%60, i%9, i*37, i%13, i*11%997)
	})
	code := build(func(i int) string {
		return fmt.Sprintf("func (s *store) load%d(ctx context.Context, key string) (*Item, error) {\n\tif v, ok := s.cache[key]; ok && v.age < %d {\n\t\treturn v.item, nil\n\t}\n\treturn s.fetch(ctx, key, %d)\n}\n\n", i, i*3, i%5)
	})
	prose := build(func(i int) string {
		return fmt.Sprintf("The user asked for the total of invoice %d, so the second page has to be read before both sums can be added. ", i)
	})
	accents := build(func(i int) string {
		return fmt.Sprintf("│ Réservé à Müller — façade n° %d, déjà payé: %d € │ status ok, next page follows after this line\n", i, i*17)
	})
	cyrillic := build(func(i int) string {
		return fmt.Sprintf("Заказ %d отправлен на склад, ожидайте письмо с номером и датой доставки. ", i)
	})
	chinese := build(func(i int) string {
		return fmt.Sprintf("订单%d已经发货，请注意查收包裹并确认收货地址是否正确。", i)
	})
	object := "[" + build(func(i int) string {
		return fmt.Sprintf(`{"id":%d,"name":"item %d","note":"first line\nsecond \"line\" %d","price":%d.50,"tags":["a","b"]},`, i, i, i*3, i)
	}) + "null]"
	return []sample{
		{"log", log}, {"code", code}, {"prose", prose}, {"json", object},
		{"accents", accents}, {"cyrillic", cyrillic}, {"chinese", chinese},
	}
}

func BenchmarkMeasure(b *testing.B) {
	for _, s := range sampleTexts() {
		b.Run(s.name, func(b *testing.B) {
			var m Measurer
			action := s.text[:len(s.text)/4]
			if s.name == "json" {
				action = s.text
			}
			b.ReportAllocs()
			b.SetBytes(int64(len(action) + len(s.text)))
			for b.Loop() {
				m.Measure(action, s.text)
			}
		})
	}
}

func BenchmarkClassify(b *testing.B) {
	table := Default()
	c := Counts{ActionWords: 12, ObservationWords: 11, SharedWords: 3, ActionChars: 88, ObservationChars: 89}
	b.ReportAllocs()
	for b.Loop() {
		Classify(&table, c)
	}
}

func BenchmarkDraw(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		sink = Draw("0", "astropy__astropy-12907", 17)
	}
}

func BenchmarkValidate(b *testing.B) {
	table := Default()
	for b.Loop() {
		if err := table.Validate(); err != nil {
			b.Fatal(err)
		}
	}
}
