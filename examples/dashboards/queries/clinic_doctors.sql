select distinct doctor from appointments where doctor <> '' order by doctor
