"""Names that Faker lacks, or has as no reader of the language would write them: of cities, companies and persons."""

from functools import cache

BRAZILIAN_CITIES = (
    *("Aracaju", "Araraquara", "Bauru", "Belém", "Belo Horizonte", "Blumenau"),
    *("Boa Vista", "Brasília", "Campina Grande", "Campinas", "Campo Grande"),
    *("Caruaru", "Cascavel", "Caxias do Sul", "Chapecó", "Criciúma", "Cuiabá"),
    *("Curitiba", "Diadema", "Feira de Santana", "Florianópolis", "Fortaleza"),
    *("Foz do Iguaçu", "Franca", "Goiânia", "Guarulhos", "Ilhéus", "Itabuna"),
    *("Jequié", "João Pessoa", "Joinville", "Juazeiro", "Juiz de Fora", "Jundiaí"),
    *("Lages", "Limeira", "Londrina", "Macapá", "Maceió", "Manaus", "Marabá"),
    *("Marília", "Maringá", "Mossoró", "Natal", "Niterói", "Olinda", "Osasco"),
    *("Palmas", "Paranaguá", "Parnaíba", "Passo Fundo", "Pelotas", "Petrolina"),
    *("Piracicaba", "Ponta Grossa", "Porto Alegre", "Porto Velho", "Recife"),
    *("Ribeirão Preto", "Rio Branco", "Rio de Janeiro", "Salvador", "Santarém"),
    *("Santo André", "Santos", "São Luís", "São Paulo", "Sobral", "Sorocaba"),
    *("Taubaté", "Teresina", "Toledo", "Uberaba", "Uberlândia", "Varginha"),
    *("Vitória", "Volta Redonda"),
)
"""Cities of Brazil, where Faker puts names of them together."""

COMPANIES = {
    "es_ES": (
        "{Talleres|Suministros|Transportes|Construcciones|Conservas|Gráficas|Muebles} {last_name}",
        "{Bodegas|Instalaciones|Viveros|Hermanos|Industrias|Grupo|Aceites|Panadería} {last_name}",
    ),
    "pt_BR": (
        "{Comercial|Transportes|Construtora|Gráfica|Padaria|Distribuidora|Móveis} {last_name}",
        "{Laticínios|Instalações|Irmãos|Indústrias|Grupo|Livraria|Malharia} {last_name}",
    ),
}
"""Recipes of companies, where Faker puts words together that do not agree, or has surnames alone."""

ACCENTED = {
    "es_ES": (
        "Alegría Álvarez Andrés Arnáiz Azorín Beltrán Benítez Bermúdez Blázquez Calderón Cortés "
        "Díaz Díez Domínguez Durán Estévez Expósito Feijóo Fernández Galán Gálvez García Giménez "
        "Gómez González Guillén Gutiérrez Guzmán Hernández Jiménez León López Macías Marín "
        "Márquez Martí Martín Martínez Méndez Menéndez Pérez Ramírez Ríos Rodríguez Roldán Román "
        "Sáez Sánchez Sanjuán Sanmartín Santamaría Suárez Tomás Vázquez Belén César Arístides "
        "Asdrúbal Encarnación Félix Héctor José Rubén Sebastián Sósimo Víctor Ángel"
    )
}
"""Names that Faker has without their accents."""


def with_accents(name: str, locale: str) -> str:
    """Return a name with the accents of the locale's names."""
    return " ".join(_accents(locale).get(word, word) for word in name.split())


@cache
def _accents(locale: str) -> dict[str, str]:
    """Return names with their accents by what they are without."""
    from faker.decode import unidecode  # noqa: PLC0415 - half a second, as in `make_faker`

    return {unidecode(name): name for name in ACCENTED[locale].split()}
